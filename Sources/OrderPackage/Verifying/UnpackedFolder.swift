// SPDX-License-Identifier: Apache-2.0

public import OrderModel
import ServiceRuntime
import ZipFiles

/// An unpacked package on disk, read as it is: whatever lies there would travel.
public struct UnpackedFolder: Sendable {
    /// How deep folders may lie within each other; a package needs one level.
    private static let depthLimit = 4

    /// All files with their paths from the folder, in byte order.
    public private(set) var files: [(path: String, contents: [UInt8])] = []
    /// What lies there and is no file that a package can hold.
    public private(set) var findings: [Finding] = []
    /// The paths of such things: they are there, though nobody can say what they hold.
    private(set) var unread: [String] = []
    private var room = ArchiveCheck.limits.totalBytes

    /// Reads a folder. Blocking: for commands, or off the event loops.
    ///
    /// Symbolic links aren't followed; ``findings`` tells of them.
    /// - Throws: `unreadableFile` for what can't be read; `tooLarge` with more than 200 files, 10 MB, or folders deep
    ///   within folders.
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
            guard files.count + unread.count < ArchiveCheck.limits.entries else {
                throw OrderPackageError(.tooLarge, path: root, "the folder has too many files for a package")
            }
            switch Files.kind(file) {
            case .file: files.append((path, try contents(file)))
            case .folder: try read(root, prefix: "\(path)/", depth: depth + 1)
            case .link, .other: add(FolderEntry.notAFile(path), path)
            case nil:
                guard let finding = FolderEntry.badName(path) else {
                    throw OrderPackageError(.unreadableFile, path: file, "the file can't be read; may it be looked at?")
                }
                add(finding, path)
            }
        }
    }

    private mutating func add(_ finding: Finding, _ path: String) {
        findings.append(finding)
        unread.append(path)
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
