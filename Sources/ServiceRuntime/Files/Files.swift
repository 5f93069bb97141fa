// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Whole files and folders, read and written with blocking calls: at start, or through `runBlocking`.
package enum Files {
    /// Reads a whole file.
    ///
    /// - Parameter limit: the largest size that is read; a bigger file is an error (`EFBIG`), never a cut one.
    /// - Throws: `SystemError` naming the path.
    package static func read(_ path: String, limit: Int = 16 << 20) throws(SystemError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw SystemError.last("read \(path)") }
        defer { close(descriptor) }
        return try self.read(descriptor: descriptor, name: path, limit: limit)
    }

    /// Reads a descriptor to its end, for example standard input (0).
    package static func read(descriptor: Int32, name: String, limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        // A file may hold a secret: its size is asked for first, so that no outgrown copy of the bytes stays behind.
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            let size = Int(status.st_size)
            if size > limit { throw SystemError(operation: "read \(name)", errno: EFBIG) }
            bytes.reserveCapacity(size)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        defer { unsafe explicit_bzero(&buffer, buffer.count) }
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError.last("read \(name)")
            }
            if bytes.count + count > limit { throw SystemError(operation: "read \(name)", errno: EFBIG) }
            bytes += buffer[0..<count]
        }
    }

    /// Writes a file so that readers see the old one or the whole new one, and a crash leaves no half of it.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws(SystemError) {
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor < 0 { throw SystemError.last("write \(path)") }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 {
                let error = SystemError.last("write \(path)")
                close(descriptor)
                unsafe unlink(temporary)
                throw error
            }
            written += count
        }
        fchmod(descriptor, mode)
        let synced = fsync(descriptor) == 0
        close(descriptor)
        if unsafe !synced || rename(temporary, path) != 0 {
            let error = SystemError.last("write \(path)")
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Makes a folder and those above it that are missing; the mode is of the folder itself.
    package static func createDirectory(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        if unsafe mkdir(path, mode) == 0 || errno == EEXIST && self.isDirectory(path) { return }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try self.createDirectory(String(path[..<slash]))
            if unsafe mkdir(path, mode) == 0 || errno == EEXIST { return }
        }
        throw SystemError.last("create folder \(path)")
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package static func list(_ path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw SystemError.last("list \(path)") }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while true {
            // Only this tells a folder's end from one that can't be read on.
            errno = 0
            guard let entry = unsafe readdir(folder) else {
                if errno != 0 { throw SystemError.last("list \(path)") }
                break
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether something stands at a path.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether a folder stands at a path.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a path leads to a regular file.
    package static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// What stands at a path.
    package enum Kind: Sendable, Hashable {
        /// A regular file of this many bytes.
        case file(Int)
        case folder
        /// A symbolic link, wherever it leads.
        case link
        /// A pipe, a socket or a device.
        case other
    }

    /// What stands at a path itself: a symbolic link isn't followed. nil when nothing does, or nobody may look.
    package static func kind(_ path: String) -> Kind? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(Int(status.st_size))
        case S_IFDIR: return .folder
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// Whether two paths name one and the same thing that is there; symbolic links aren't followed at their ends.
    package static func areSame(_ path: String, _ other: String) -> Bool {
        var first = stat()
        var second = stat()
        guard unsafe lstat(path, &first) == 0, unsafe lstat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// The permission bits of a regular file; nil for anything else, links included.
    package static func permissions(ofFile path: String) -> UInt32? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status.st_mode & 0o7777
    }

    /// Whether a path is a folder, no link to one, that is this user's and nobody else's to enter.
    package static func isPrivateFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_mode & 0o7777 == 0o700 && status.st_uid == geteuid()
    }

    /// Moves a file or folder. It takes the place of a file or of an empty folder, never of one with contents.
    package static func move(_ path: String, to target: String) throws(SystemError) {
        if unsafe rename(path, target) != 0 { throw SystemError.last("move \(path) to \(target)") }
    }

    /// Writes a file that must not be there yet, whole or not at all.
    ///
    /// - Returns: whether it was written; false when another has the name, also one made at the same moment.
    package static func create(_ bytes: [UInt8], at path: String, mode: UInt32) throws(SystemError) -> Bool {
        let draft = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).draft"
        try self.write(bytes, to: draft, mode: mode)
        defer { _ = unsafe unlink(draft) }
        // A link fails when the name is taken; a rename would replace it.
        if unsafe link(draft, path) == 0 { return true }
        if errno == EEXIST { return false }
        throw SystemError.last("create \(path)")
    }

    /// Takes a folder away with all that is in it. Links are removed, not followed.
    package static func removeTree(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in try self.list(path) { try self.removeTree(path + "/" + name) }
            if unsafe rmdir(path) != 0 { throw SystemError.last("remove \(path)") }
        } else if unsafe unlink(path) != 0 {
            throw SystemError.last("remove \(path)")
        }
    }

    /// Lets a reader of a pipe see at once what was printed.
    package static func flushStandardOutput() { _ = fflush(nil) }

    /// Writes bytes to standard output.
    package static func writeStandardOutput(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw SystemError.last("write to standard output") }
            written += max(0, count)
        }
    }

    /// Writes to standard error, after what was logged before. When nobody has read for a second, it is not said.
    package static func writeStandardError(_ text: String) {
        let bytes = Array(text.utf8)
        LogSink.flushStandardError()
        var entry = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&entry, 1, 1_000) > 0 else { return }
        unsafe bytes.withUnsafeBytes { _ = unsafe Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
