// SPDX-License-Identifier: Apache-2.0

import OrderModel
import OrderPackage

/// What a revision's files weigh together. A package from Apple's limit on is refused by Wallet and never built, so no
/// change may make a revision of such files: its order could not be delivered any more.
struct PackageWeight: Sendable {
    /// A package stays below this many bytes (spec 1.6).
    static let limit = 5_000_000
    /// Manifest, signature and directory, without their share for each file.
    private static let overhead = 16_000
    /// A document counts for at least this much, so that the files need not be weighed each time an order that is no
    /// larger than most grows.
    static let documentFloor = 16_384

    private var files: [(name: String, bytes: Int)] = []
    /// What all files need.
    private(set) var bytes = 0

    /// Adds a file: its contents, and its name in the manifest and twice in the archive, with a digest and headers.
    mutating func add(_ name: String, _ size: Int) {
        self.files.append((name, size))
        self.bytes += size + 3 * name.utf8.count + 160
    }

    /// The whole package, when the document's text has that many bytes. A package writes amounts as strings, which takes
    /// up to a fifth more.
    private func total(document: Int) -> Int {
        self.bytes + max(Self.documentFloor, document + document / 5) + Self.overhead
    }

    /// Why these files make no package; nil when they do, or when they weigh less than those that an order has: what makes
    /// things better is not refused.
    ///
    /// - Parameter before: the files and the document's size so far.
    func refusal(document: Int, before: (weight: PackageWeight, document: Int)? = nil) -> StoreError? {
        let findings = [self.tooMany(before?.weight), self.tooLarge(document, before)].compactMap { $0 }
        guard let first = findings.first else { return nil }
        return StoreError(
            .packageTooLarge,
            first.code == "package-too-large"
                ? "The order and its files are too large together for a package."
                : "The order has more files than a package may have.",
            findings: findings
        )
    }

    /// A package of more files is not read by whoever verifies it.
    private func tooMany(_ before: PackageWeight?) -> Finding? {
        guard self.files.count > max(PackageFile.mostFiles, before?.files.count ?? 0) else { return nil }
        return OrderPackageError.tooManyFiles(self.files.count).finding
    }

    private func tooLarge(_ document: Int, _ before: (weight: PackageWeight, document: Int)?) -> Finding? {
        let total = self.total(document: document)
        guard total >= Self.limit else { return nil }
        if let before, total <= before.weight.total(document: before.document) { return nil }
        let largest = (self.files + [("order.json", document)]).sorted { $0.bytes > $1.bytes }.prefix(3)
        return Finding(
            severity: .error,
            code: "package-too-large",
            path: largest.first?.name ?? "order.json",
            message: "The package would have about \(total) bytes; it must stay below \(Self.limit). Largest: "
                + largest.map { "\($0.name) (\($0.bytes))" }.joined(separator: ", ") + ".",
            fix: "Send smaller images; Wallet shows them at 300 by 300 pixels."
        )
    }
}
