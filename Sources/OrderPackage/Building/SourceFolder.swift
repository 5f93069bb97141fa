// SPDX-License-Identifier: Apache-2.0

import ExactJSON
public import OrderModel
import ServiceRuntime

/// The source of a package on disk: `order.json`, images and localization folders.
///
/// Apple: WalletOrders, "Creating the source for an order".
public struct SourceFolder: Sendable {
    /// The most files that are read.
    private static let fileLimit = 500
    /// How deep folders may lie within each other; a package needs one level.
    private static let depthLimit = 4

    /// The bytes of `order.json`.
    public private(set) var order: [UInt8] = []
    /// The contents of all other files by path.
    public private(set) var files: [String: [UInt8]] = [:]
    /// What was left out: hidden and temporary files, and a former package's `manifest.json` and `signature`.
    public private(set) var leftOut: [String] = []

    /// Reads a folder. Blocking: for commands, or off the event loops.
    ///
    /// - Throws: `unreadableFile` without a readable `order.json` or with a file from 5 MB, `tooLarge` with more than
    ///   500 files or folders within folders.
    public init(_ folder: String) throws(OrderPackageError) {
        let root = folder.count > 1 && folder.last == "/" ? String(folder.dropLast()) : folder
        order = try contents("\(root)/order.json")
        try read(root, prefix: "", depth: 0)
    }

    private mutating func read(_ root: String, prefix: String, depth: Int) throws(OrderPackageError) {
        guard depth < Self.depthLimit else {
            throw OrderPackageError(.tooLarge, path: prefix, "folders lie too deep within each other")
        }
        for name in try list(prefix.isEmpty ? root : "\(root)/\(prefix)") {
            let path = prefix + name
            if StrayFile.matches(path) || path == Manifest.path || path == "signature" {
                leftOut.append(path)
            } else if Files.isDirectory("\(root)/\(path)") {
                try read(root, prefix: "\(path)/", depth: depth + 1)
            } else if path != "order.json" {
                files[path] = try contents("\(root)/\(path)")
            }
        }
        guard files.count <= Self.fileLimit else {
            throw OrderPackageError(.tooLarge, path: root, "the folder has more than \(Self.fileLimit) files")
        }
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
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: order)
        } catch {
            return (nil, [Finding(syntax: error, path: "order.json")])
        }
        let (document, own) = OrderDocument.validate(json, options)
        var list = FindingList()
        for (path, contents) in files.sorted(by: { $0.key < $1.key }) where contents.isEmpty {
            list.error("empty-file", path, "The file is empty, and devices pass over it.", fix: "Leave it out.")
        }
        return (
            document,
            own + list.findings + FileNameCheck.similarNames(files.keys) + FileCheck.check(json, files: files)
        )
    }

    /// The files as a builder takes them.
    ///
    /// - Throws: `badPath`, `emptyFile`.
    public func packageFiles() throws(OrderPackageError) -> [PackageFile] {
        var result: [PackageFile] = []
        for (path, contents) in files { result.append(try PackageFile(path: path, contents: contents)) }
        return result
    }
}
