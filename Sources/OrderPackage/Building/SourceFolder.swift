// SPDX-License-Identifier: Apache-2.0

import ExactJSON
public import OrderModel
import ServiceRuntime
import ZipFiles

/// The source of a package on disk: `order.json`, images and localization folders.
///
/// Apple: WalletOrders, "Creating the source for an order".
public struct SourceFolder: Sendable {
    /// How deep folders may lie within each other; a package needs one level.
    private static let depthLimit = 4

    /// The bytes of `order.json`.
    public private(set) var order: [UInt8] = []
    /// The contents of all other files by path.
    public private(set) var files: [String: [UInt8]] = [:]  // short: names from a disk.
    /// What was left out: hidden and temporary files, a former package's `manifest.json` and `signature`, and finished
    /// packages beside the order.
    public private(set) var leftOut: [String] = []
    /// What can't go into a package: links and the like, names that are one name.
    private var faults: [Finding] = []
    /// The sizes of files that no package has room for: what they hold is not read.
    private var unread: [String: Int] = [:]  // short: names from a disk.
    private var byteCount = 0
    /// How many names were looked at.
    private var nameCount = 0
    /// The order, where it can be read: a file that it names is left out for no name.
    private var json = JSONValue.null
    /// Where the package goes.
    private let output: String?

    /// Reads a folder. Blocking: for commands, or off the event loops.
    ///
    /// Symbolic links aren't followed: what one leads to may lie outside, or be gone tomorrow. ``check(_:)`` tells of them, and
    /// of what is too large, or too much, for a package, which is not read.
    /// - Parameters:
    ///   - folder: its path.
    ///   - output: where the package goes: a former one there, inside the folder, is no part of the next.
    /// - Throws: `unreadableFile` without a readable `order.json`, `tooLarge` with folders too deep within folders,
    ///   `tooManyFiles` beyond 10,000.
    public init(_ folder: String, output: String? = nil) throws(OrderPackageError) {
        self.output = output
        let root = folder.count > 1 && folder.last == "/" ? String(folder.dropLast()) : folder
        let path = "\(root)/order.json"
        switch Files.kind(path) {
        case .folder, .link, .other:
            throw OrderPackageError(.unreadableFile, path: path, "this is no regular file; put the file itself there")
        case .file(let size) where size >= WalletPolicy.packageLimit:
            fault(
                "order-too-large",
                "order.json",
                "The text has \(size) bytes; a whole package stays below 5 MB.",
                fix: "Give the order only what its customer is to see."
            )
        case .file, nil: order = try contents(path)
        }
        byteCount = order.count
        if let value = try? JSONValue(parsing: order, limits: OrderDocument.limits) { json = value }
        try read(root, prefix: "", depth: 0)
    }

    private mutating func read(_ root: String, prefix: String, depth: Int) throws(OrderPackageError) {
        guard depth < Self.depthLimit else {
            throw OrderPackageError(.tooLarge, path: prefix, "folders lie too deep within each other")
        }
        for name in try list(prefix.isEmpty ? root : "\(root)/\(prefix)") {
            nameCount += 1
            guard nameCount <= FolderEntry.nameLimit else { throw FolderEntry.tooMany(root) }
            let path = prefix + name
            let place = "\(root)/\(path)"
            let isOwn = path.isExactly(oneOf: [Manifest.path, SignatureCheck.path])
            if isOwn || isStray(path, at: place) || isPackage(path, at: place) {
                leftOut.append(path)
                continue
            }
            switch Files.kind(place) {
            case .folder: try read(root, prefix: "\(path)/", depth: depth + 1)
            case .file(let size): try add(root, path, size)
            case .link, .other: faults.append(FolderEntry.notAFile(path))
            case nil:
                if let finding = FolderEntry.badName(path) {
                    faults.append(finding)
                    continue
                }
                throw OrderPackageError(.unreadableFile, path: path, "the file can't be read; may it be looked at?")
            }
        }
    }

    /// All files beside the order's.
    private var count: Int { files.count + unread.count }

    /// Whether a path is a leftover: the order names neither it nor, where it is a folder, a file in it.
    private func isStray(_ path: String, at place: String) -> Bool {
        guard StrayFile.matches(path), StrayFile.named(by: json, among: [path]).isEmpty else { return false }
        return Files.kind(place) != .folder || !StrayFile.isNamed(folder: path, by: json)
    }

    /// Whether a path is where the package goes, or a finished package that lies beside the order.
    private func isPackage(_ path: String, at place: String) -> Bool {
        if let output, path != "order.json", Files.areSame(output, place) { return true }
        return !path.utf8.contains(UInt8(ascii: "/"))
            && Self.packageEndings.contains { Substring(path.utf8.suffix($0.utf8.count)).isCaseless($0) }
    }

    private static let packageEndings = [".order", ".pkpass"]

    private mutating func add(_ root: String, _ path: String, _ size: Int) throws(OrderPackageError) {
        // Strings are equal also when they only differ in how an accent is written: Apple's file systems agree.
        guard files[path] == nil, unread[path] == nil else {
            return fault(
                "names-differ-in-case",
                path,
                "Two files have this name, with its accents written in two ways.",
                fix: "Rename one of them."
            )
        }
        if path == "order.json" { return }
        byteCount += size
        // Before more is read than could ever be sent; a package near the limit is weighed by the builder.
        guard size < WalletPolicy.packageLimit, byteCount < 4 * WalletPolicy.packageLimit,
            files.count < PackageFile.mostFiles
        else {
            unread[path] = size
            return
        }
        files[path] = try contents("\(root)/\(path)")
    }

    private func largest() -> String {
        let sizes = Array(files.mapValues(\.count)) + Array(unread)
        let sorted = sizes.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3)
        return "the largest files are " + sorted.map { "\($0.key) (\($0.value) bytes)" }.joined(separator: ", ")
    }

    private mutating func fault(_ code: String, _ path: String, _ message: String, fix: String) {
        faults.append(Finding(severity: .error, code: code, path: path, message: message, fix: fix))
    }

    private func contents(_ path: String) throws(OrderPackageError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.read(path, limit: WalletPolicy.packageLimit)
        } catch {
            throw OrderPackageError(.unreadableFile, path: path, "the file can't be read: \(error)")
        }
    }

    private func list(_ folder: String) throws(OrderPackageError) -> [String] {
        do throws(SystemError) {
            return try Files.list(folder)
        } catch {
            throw OrderPackageError(.unreadableFile, path: folder, "the folder can't be read: \(error)")
        }
    }

    /// Checks the order and the files together, as a verifier would check the finished package.
    ///
    /// - Returns: the document, or nil if it has errors of its own; and every finding.
    public func check(_ options: ValidationOptions = .init()) -> (document: OrderDocument?, findings: [Finding]) {
        let json: JSONValue
        // What it says was not read when it is too large, which is told then.
        if order.isEmpty, faults.contains(where: { $0.code == "order-too-large" }) { return (nil, faults) }
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: order, limits: OrderDocument.limits)
        } catch {
            return (nil, [Finding(syntax: error, path: "order.json")] + faults)
        }
        let (document, own) = OrderDocument.validate(json, options)
        var list = FindingList()
        for fault in faults { list.append(fault) }
        for (path, contents) in files.sorted(by: { $0.key < $1.key }) where contents.isEmpty {
            list.append(EmptyFile.finding(path))
        }
        checkArchive(&list)
        return (
            document,
            own + list.findings + FileNameCheck.similarNames(Array(files.keys) + Array(unread.keys))
                + FileCheck.check(json, files: files.merging(unread.mapValues { _ in [] }) { own, _ in own })
        )
    }

    /// Checks what the files have to be for a package to hold them. The last few kilobytes, for the manifest, the signature and
    /// the archive's records, are weighed when it is built.
    private func checkArchive(_ list: inout FindingList) {
        if byteCount >= WalletPolicy.packageLimit {
            list.append(
                OrderPackageError(
                    .tooLarge,
                    "the files have \(byteCount) bytes; Apple's limit for a package is below 5 MB: \(largest())"
                ).finding
            )
        }
        if let error = tooMany { list.append(error.finding) }
        for path in (Array(files.keys) + Array(unread.keys)).sorted() {
            if let finding = ReservedName.finding(path) { list.append(finding) }
            guard let fault = EntryName.fault(path) ?? (PackagePath.namesFolder(path) ? PackageFile.folderFault : nil)
            else { continue }
            list.append(OrderPackageError(.badPath, path: path, fault).finding)
        }
    }

    /// More files than a package may have.
    private var tooMany: OrderPackageError? {
        count > PackageFile.mostFiles ? .tooManyFiles(count) : nil
    }

    /// The files as a builder takes them.
    ///
    /// - Throws: `badPath`, `emptyFile`, `tooManyFiles`, `tooLarge`.
    public func packageFiles() throws(OrderPackageError) -> [PackageFile] {
        if let tooMany { throw tooMany }
        if !unread.isEmpty { throw OrderPackageError(.tooLarge, "the folder has 5 MB or more: \(largest())") }
        var result: [PackageFile] = []
        // In order, so that of several faults it is always the same one that is told.
        for (path, contents) in files.sorted(by: { $0.key < $1.key }) {
            result.append(try PackageFile(path: path, named: contents))
        }
        return result
    }
}
