// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
public import OrderModel
import ServiceRuntime
import ZipFiles

/// Builds signed packages.
///
/// Deterministic: the same order, files, identity and signing time give the same bytes on every machine, so that
/// nothing signed has to be stored and any cache may stand in front. Safe to use from any number of threads.
public struct PackageBuilder: Sendable {
    /// What the packages are signed with.
    public let identity: SigningIdentity

    /// Signs a manifest at a second; a test puts one in its place that fails unseen.
    var sign: @Sendable ([UInt8], Int64) throws(CryptographyError) -> [UInt8]

    /// A builder that signs with an identity.
    public init(identity: SigningIdentity) {
        self.identity = identity
        let signer = identity.signer
        sign = { manifest, time throws(CryptographyError) in try signer.sign(manifest, signingTime: time) }
    }

    /// Builds a package.
    ///
    /// - Parameters:
    ///   - order: the bytes of `order.json`; they are read, to be sure that they are JSON and of the identity's type. A byte
    ///     order mark in front of them is left out.
    ///   - files: images, receipts, labels and localized strings, in any order.
    ///   - signingTime: when the order came to be as it is, in seconds since 1970; moved up to where the chain is valid.
    /// - Throws: `badOrder`, `orderTypeMismatch`, `expired` when the chain had ended by then, `duplicatePath`,
    ///   `tooManyFiles`, `tooLarge`, `signing`.
    public func build(
        order: [UInt8],
        files: [PackageFile] = [],
        signingTime: Int64
    ) throws(OrderPackageError) -> OrderPackage {
        try checkOrder(order)
        let order = order.starts(with: Self.mark) ? Array(order.dropFirst(Self.mark.count)) : order
        return try assemble(order, files, signingTime)
    }

    /// A byte order mark: readers may pass over one, but nobody must write it (RFC 8259 8.1).
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// What there is to say about a signing time, before anything is signed with it.
    ///
    /// - Parameters:
    ///   - updatedAt: as ``build(order:files:signingTime:)`` takes it, out of the order.
    ///   - now: the present moment, in seconds since 1970.
    public func findings(signingAt updatedAt: Int64, now: Int64) -> [Finding] {
        let time = identity.signingTime(for: updatedAt)
        guard SigningTime.isFuture(time, at: now) else { return [] }
        return [
            Finding(
                severity: .warning,
                code: SigningTime.future,
                pointer: .root.appending("updatedAt"),
                message: "The package will say it was signed at \(WallTime(seconds: time).rfc3339), in the future.",
                fix: "Give the moment of the order's last change; look at this machine's clock."
            )
        ]
    }

    /// Builds a package of a document's own bytes, which needn't be read: that would cost a tenth of a package.
    ///
    /// - Parameters:
    ///   - order: what one of the document's `packageForm` functions gave.
    ///   - document: the document.
    ///   - files: as ``build(order:files:signingTime:)`` takes them.
    ///   - signingTime: likewise.
    /// - Throws: as ``build(order:files:signingTime:)``, but for `badOrder`.
    package func build(
        _ order: [UInt8],
        of document: OrderDocument,
        files: [PackageFile] = [],
        signingTime: Int64
    ) throws(OrderPackageError) -> OrderPackage {
        try checkType(document.orderTypeIdentifier.text)
        return try assemble(order, files, signingTime)
    }

    private func assemble(
        _ order: [UInt8],
        _ files: [PackageFile],
        _ signingTime: Int64
    ) throws(OrderPackageError) -> OrderPackage {
        let time = identity.signingTime(for: signingTime)
        guard time <= identity.chainNotAfter else {
            throw OrderPackageError(
                .expired,
                "the certificates for \(identity.orderTypeIdentifier) had expired by then; renew them"
            )
        }
        guard files.count <= PackageFile.mostFiles else { throw OrderPackageError.tooManyFiles(files.count) }
        let sorted = files.sorted { Self.precedes($0.path, $1.path) }
        for (file, next) in zip(sorted, sorted.dropFirst()) where file.path == next.path {
            throw OrderPackageError(.duplicatePath, path: file.path, "two files have this path")
        }
        try Self.checkFolders(sorted)
        let manifest = Manifest.bytes(Self.lines(order: SHA256.hash(order).hex, sorted))
        let signature = try signature(over: manifest, at: time)
        return try archive(manifest: manifest, order: order, files: sorted, signature: signature)
    }

    /// No file may have the name of another's folder: whoever unpacks the package would lose one of them.
    private static func checkFolders(_ sorted: [PackageFile]) throws(OrderPackageError) {
        for file in sorted {
            for slash in file.path.utf8.indices where file.path.utf8[slash] == 0x2F {
                let folder = String(file.path[..<slash])
                var low = 0
                var high = sorted.count
                while low < high {
                    let middle = (low + high) / 2
                    if precedes(sorted[middle].path, folder) { low = middle + 1 } else { high = middle }
                }
                let isFile = low < sorted.count && sorted[low].path.isExactly(folder)
                guard isFile || folder.isExactly(oneOf: PackageFile.reserved) else { continue }
                throw OrderPackageError(.badPath, path: folder, EntryName.alsoFolder(of: file.path))
            }
        }
    }

    private func checkOrder(_ order: [UInt8]) throws(OrderPackageError) {
        let json: JSONValue
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: order, limits: OrderDocument.limits)
        } catch {
            throw OrderPackageError(.badOrder, path: "order.json", "the order is not JSON (\(error))")
        }
        guard let type = json["orderTypeIdentifier"]?.stringValue else {
            throw OrderPackageError(.badOrder, path: "order.json", "the order has no orderTypeIdentifier")
        }
        try checkType(type)
    }

    private func checkType(_ type: String) throws(OrderPackageError) {
        guard type == identity.orderTypeIdentifier.text else {
            throw OrderPackageError(
                .orderTypeMismatch,
                path: "order.json",
                "the order is of type \(type), but the certificate signs \(identity.orderTypeIdentifier)"
            )
        }
    }

    /// The manifest's lines in byte order of the paths, with `order.json` among them.
    private static func lines(order: String, _ files: [PackageFile]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        lines.reserveCapacity(files.count + 1)
        let place = files.firstIndex { precedes(orderPath, $0.path) } ?? files.count
        for file in files[..<place] { lines.append(file.manifestLine) }
        lines.append(Manifest.line(path: orderPath, digestText: order))
        for file in files[place...] { lines.append(file.manifestLine) }
        return lines
    }

    private static let orderPath = "order.json"

    private static func precedes(_ left: String, _ right: String) -> Bool {
        let left = left.utf8.span
        let right = right.utf8.span
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }

    /// What to make smaller.
    private static func largest(_ files: [PackageFile]) -> String {
        let sorted = files.sorted { $0.contents.count > $1.contents.count }.prefix(3)
        return sorted.isEmpty
            ? "the order itself is too long"
            : "the largest files are "
                + sorted.map { "\($0.path) (\($0.contents.count) bytes)" }.joined(separator: ", ")
    }

    private func signature(over manifest: [UInt8], at time: Int64) throws(OrderPackageError) -> [UInt8] {
        let signature: [UInt8]
        do throws(CryptographyError) {
            signature = try sign(manifest, time)
        } catch {
            throw OrderPackageError(.signing, "the manifest could not be signed: \(error.message)")
        }
        try Self.checkForm(signature)
        return signature
    }

    /// Even the shortest signature holds an RSA-2048 value; less means that something failed unseen.
    static func checkForm(_ signature: [UInt8]) throws(OrderPackageError) {
        guard signature.first == 0x30, signature.count > 256 else {
            throw OrderPackageError(.signing, "signing gave \(signature.count) bytes that are no signature")
        }
    }

    private func archive(
        manifest: [UInt8],
        order: [UInt8],
        files: [PackageFile],
        signature: [UInt8]
    ) throws(OrderPackageError) -> OrderPackage {
        var writer = ZipWriter()
        do throws(ZipError) {
            try writer.add(name: Manifest.path, contents: manifest)
            try writer.add(name: Self.orderPath, contents: order)
            for file in files { try writer.add(file.entry) }
            try writer.add(name: "signature", contents: signature)
        } catch {
            throw OrderPackageError(
                error.code == .duplicateName ? .duplicatePath : .tooLarge,
                path: error.entry,
                error.message
            )
        }
        let count = writer.byteCount
        guard count < WalletPolicy.packageLimit else {
            throw OrderPackageError(
                .tooLarge,
                "the package has \(count) bytes; Apple's limit is below 5 MB: \(Self.largest(files))"
            )
        }
        return OrderPackage(chunks: writer.finish(), byteCount: count, signature: signature)
    }
}
