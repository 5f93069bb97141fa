// SPDX-License-Identifier: Apache-2.0
internal import OrderModel
internal import OrderPackage
internal import OrderStore

/// What is asked of a file before it is stored, whichever way it came.
internal enum UploadedFile {
    /// The largest file, in bytes: a whole package stays below 5 MB (spec 1.6).
    static let sizeLimit = 5_000_000

    /// Why a file is refused.
    struct Failure: Error {
        let finding: Finding
    }

    /// The file, when a package can hold it and Wallet can show it.
    static func check(_ path: PackagePath, _ contents: [UInt8]) -> Result<OrderFile, Failure> {
        func refused(_ code: String, _ message: String, _ fix: String) -> Result<OrderFile, Failure> {
            .failure(
                Failure(finding: Finding(severity: .error, code: code, path: path.text, message: message, fix: fix))
            )
        }
        if contents.isEmpty {
            return refused("empty-file", "The file is empty.", "iOS ignores empty files: leave it out.")
        }
        if contents.count > self.sizeLimit {
            return refused(
                "file-too-large",
                "The file has more than \(self.sizeLimit) bytes.",
                "A whole package stays below 5 MB: send a smaller one."
            )
        }
        // short: a PackagePath, ASCII of 100 bytes at most.
        if ["order.json", "manifest.json", "signature"].contains(path.name.lowercased()) {
            return refused("reserved-name", "The package has a file of this name of its own.", "Use another name.")
        }
        // In whatever case: on a Mac's disk one of them would take the other's place.
        if path.name.lowercased() == "order.strings" {
            return refused("strings-file", "Texts are no file here.", "PUT them as JSON to …/localizations/{locale}.")
        }
        guard AssetFormat(contents) != nil else {
            return refused(
                "unknown-format",
                "The file is neither PNG nor JPEG nor PDF.",
                "Send one of these; what counts is the content, not the name."
            )
        }
        return .success(OrderFile(name: path.text, contents: contents))
    }
}

extension Finding {
    /// The document names files that nobody sent.
    ///
    /// - Parameter others: what else is said; a file that nothing names may be one of these, spelt in other case.
    internal static func missingFiles(_ names: [String], beside others: [Finding]) -> [Finding] {
        let unused = names.isEmpty ? [] : others.filter { $0.code == "file-unused" }.compactMap(\.path)
        let paths = Dictionary(unused.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        return names.map { name in
            Finding(
                severity: .warning,
                code: "file-missing",
                path: name,
                message:
                    "The order names \(name), and no such file is known. Until it is, a phone may refuse the package.",
                fix: paths[name.lowercased()].map { "There is \"\($0)\"; upper and lower case count." }
                    ?? "Send it as a part of this name, or store it for the order or its type."
            )
        }
    }
}
