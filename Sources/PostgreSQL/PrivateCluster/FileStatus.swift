// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// Who owns a file and who may do what with it.
internal struct FileStatus: Sendable {
    let owner: UInt32
    let group: UInt32
    let mode: UInt32
    let device: UInt64
    let inode: UInt64
    /// Since 1970. A file's time may lie beyond 2262, where a 64-bit number of nanoseconds ends.
    let modifiedAt: Duration

    /// Follows symbolic links; nil when there is nothing.
    ///
    /// - Throws: when it can't be looked at, which is no sign of its absence.
    init?(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let error = SystemError.last("look at \(path)")
            if error.saysAbsent { return nil }
            throw error
        }
        self.owner = status.st_uid
        self.group = status.st_gid
        self.mode = status.st_mode
        self.device = UInt64(status.st_dev)
        self.inode = UInt64(status.st_ino)
        self.modifiedAt = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }

    var isFolder: Bool { self.mode & S_IFMT == S_IFDIR }

    /// Whether a user may go through this folder.
    func isPassable(for user: UserIdentity) -> Bool {
        if self.owner == user.user { return self.mode & 0o100 != 0 }
        if self.group == user.group { return self.mode & 0o010 != 0 }
        return self.mode & 0o001 != 0
    }

    /// Whether both are the same file.
    func isSame(as other: FileStatus) -> Bool { self.device == other.device && self.inode == other.inode }
}

extension SystemError {
    /// Whether there is nothing at the path, or the process whose file in `/proc` it was has ended.
    internal var saysAbsent: Bool { [ENOENT, ENOTDIR, ESRCH].contains(self.errno) }
}

/// Small files.
internal enum File {
    /// A file as text; nil when there is none.
    ///
    /// - Throws: when it can't be read, which is no sign of its absence; `EFBIG` when it is larger than `limit`.
    static func read(_ path: String, limit: Int = 65_536) throws(SystemError) -> String? {
        do throws(SystemError) {
            return String(decoding: try Files.read(path, limit: limit), as: UTF8.self)
        } catch {
            if error.saysAbsent { return nil }
            throw error
        }
    }

    /// The end of a file as text; nil when it can't be read.
    static func tail(_ path: String, limit: Int) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe pread(descriptor, &buffer, limit, off_t(max(0, size - limit)))
        return count < 0 ? nil : String(decoding: buffer[0..<count], as: UTF8.self)
    }

    /// Appends text to a file that is there.
    static func append(_ text: String, to path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }
}

/// Folders' contents.
internal enum Folder {
    /// The names in a folder, without `.` and `..`; empty when there is no folder.
    ///
    /// - Throws: when it can't be read.
    static func names(in path: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try Files.list(path)
        } catch {
            if error.saysAbsent { return [] }
            throw error
        }
    }
}
