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
    /// Such things, and files beyond what is read, with their sizes: they are there, though nobody can say what they hold.
    private(set) var unread: [(path: String, size: Int)] = []
    private var room = ArchiveCheck.limits.totalBytes
    /// How many names were looked at.
    private var nameCount = 0

    /// Reads a folder. Blocking: for commands, or off the event loops.
    ///
    /// Symbolic links aren't followed; ``findings`` tells of them.
    /// Nor is more read than 200 files and 10 MB, which they tell, too.
    /// - Throws: `unreadableFile` for what can't be read; `tooLarge` with folders deep within folders, `tooManyFiles` beyond
    ///   10,000.
    public init(_ folder: String) throws(OrderPackageError) {
        try read(folder.count > 1 && folder.last == "/" ? String(folder.dropLast()) : folder, prefix: "", depth: 0)
        let count = files.count + unread.count
        if count > ArchiveCheck.limits.entries {
            findings.append(
                OrderPackageError(
                    .tooManyFiles,
                    "the folder has \(count) files; at most \(ArchiveCheck.limits.entries) are read"
                ).finding
            )
        }
    }

    private mutating func read(_ root: String, prefix: String, depth: Int) throws(OrderPackageError) {
        guard depth < Self.depthLimit else {
            throw OrderPackageError(.tooLarge, path: prefix, "folders lie too deep within each other")
        }
        for name in try list("\(root)/\(prefix)") {
            nameCount += 1
            guard nameCount <= FolderEntry.nameLimit else { throw FolderEntry.tooMany(root) }
            let path = prefix + name
            let file = "\(root)/\(path)"
            switch Files.kind(file) {
            case .file(let size) where size > room || files.count >= ArchiveCheck.limits.entries:
                unread.append((path, size))
                // What is smaller is at fault only together with others, and their sum is told.
                guard size >= WalletPolicy.packageLimit else { continue }
                findings.append(
                    OrderPackageError(.tooLarge, path: path, "the file has \(size) bytes; a package stays below 5 MB")
                        .finding
                )
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
        unread.append((path, 0))
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
