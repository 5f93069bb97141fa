// SPDX-License-Identifier: Apache-2.0

import ServiceRuntime
import ZipFiles

/// An unpacked package on disk, read as it is: whatever lies there would travel.
public struct UnpackedFolder: Sendable {
    /// How deep folders may lie within each other; a package needs one level.
    private static let depthLimit = 4

    /// All files with their paths from the folder, in byte order.
    public private(set) var files: [(path: String, contents: [UInt8])] = []
    private var room = ArchiveCheck.limits.totalBytes

    /// Reads a folder. Blocking: for commands, or off the event loops.
    ///
    /// - Throws: `unreadableFile` for what can't be read and for anything but files and folders, such as links;
    ///   `tooLarge` with more than 1,000 files, 10 MB, or folders deep within folders.
    public init(_ folder: String) throws(OrderPackageError) {
        try read(folder.count > 1 && folder.last == "/" ? String(folder.dropLast()) : folder, prefix: "", depth: 0)
    }

    private mutating func read(_ root: String, prefix: String, depth: Int) throws(OrderPackageError) {
        guard depth < Self.depthLimit else {
            throw OrderPackageError(.tooLarge, path: prefix, "folders lie too deep within each other")
        }
        for name in try list("\(root)/\(prefix)") {
            let path = prefix + name
            let file = "\(root)/\(path)"
            if Files.permissions(ofFile: file) != nil {
                guard files.count < ArchiveCheck.limits.entries else {
                    throw OrderPackageError(.tooLarge, path: root, "the folder has too many files for a package")
                }
                files.append((path, try contents(file)))
            } else if Files.isDirectory(file) {
                try read(root, prefix: "\(path)/", depth: depth + 1)
            } else {
                throw OrderPackageError(.unreadableFile, path: file, "this is neither a file nor a folder")
            }
        }
    }

    private mutating func contents(_ file: String) throws(OrderPackageError) -> [UInt8] {
        do throws(SystemError) {
            let contents = try Files.read(file, limit: room)
            room -= contents.count
            return contents
        } catch {
            throw OrderPackageError(.unreadableFile, path: file, "the file can't be read: \(error)")
        }
    }

    private func list(_ folder: String) throws(OrderPackageError) -> [String] {
        do throws(SystemError) {
            return try Files.list(folder)
        } catch {
            throw OrderPackageError(.unreadableFile, path: folder, "the folder can't be read: \(error)")
        }
    }
}
