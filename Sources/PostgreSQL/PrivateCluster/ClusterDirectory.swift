// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// The folders of a private cluster: made, checked and locked. Everything here blocks.
internal struct ClusterDirectory: Sendable {
    /// The program's data directory.
    let root: String
    /// Who the server runs as; nil when it is ourselves.
    let user: UserIdentity?

    var data: String { self.root + "/pg" }
    /// What the names of clusters in the making begin with. Each has one of its own: what makes one may outlive a killed
    /// program for a moment.
    private static let unfinished = "pg.new"
    /// A path for a cluster in the making.
    func draft() -> String { "\(self.root)/\(Self.unfinished).\(getpid()).\(UInt32.random(in: 0...UInt32.max))" }
    var socket: String { Self.socket(in: self.root) }
    static func socket(in root: String) -> String { root + "/socket" }
    var lockFile: String { self.root + "/pg.lock" }
    var startLog: String { self.root + "/pg.start.log" }

    /// - Throws: `.pathTooLong`, `.noUser`, `.failed` when the users can't be looked up.
    init(root: String) throws(PrivateClusterError) {
        self.root = ClusterDirectory.absolute(root)
        if geteuid() == 0 {
            guard let user = try ClusterDirectory.look({ () throws(SystemError) in try UserIdentity(name: "postgres") })
            else {
                throw PrivateClusterError(
                    .noUser,
                    "PostgreSQL does not run as root, and there is no user postgres to run it as; "
                        + "start walletorders as another user, or give the URL of a server"
                )
            }
            self.user = user
        } else {
            self.user = nil
        }
        // sun_path has 108 bytes, one of them for the NUL.
        let longest = self.socket.utf8.count + "/.s.PGSQL.5432".utf8.count
        guard longest <= 107 else {
            throw PrivateClusterError(
                .pathTooLong,
                "the database's socket would have a path of \(longest) bytes, the limit is 107; "
                    + "choose a data directory with a shorter path than \(self.root)"
            )
        }
    }

    /// Looks at something. What can't be looked at is not absent, and nothing may be built on that.
    private static func look<Found>(_ body: () throws(SystemError) -> Found) throws(PrivateClusterError) -> Found {
        do throws(SystemError) { return try body() } catch { throw PrivateClusterError(.failed, "\(error)") }
    }

    private static func status(_ path: String) throws(PrivateClusterError) -> FileStatus? {
        try self.look { () throws(SystemError) in try FileStatus(path) }
    }

    /// A path from the root: a socket directory is one only when it begins with a slash.
    static func absolute(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if path.hasPrefix("/") { return path }
        guard let here = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(here) }
        return unsafe String(cString: here) + "/" + path
    }

    // MARK: Making

    /// Makes what is missing and checks what is there.
    ///
    /// - Throws: `.unwritable`, `.unreachable`, `.notACluster`.
    func prepare() throws(PrivateClusterError) {
        try self.makeRoot()
        try self.checkReach()
        for path in [self.data, self.socket] { try self.makeOwned(path) }
    }

    private func makeRoot() throws(PrivateClusterError) {
        var path = ""
        let parts = self.root.split(separator: "/")
        for (index, part) in parts.enumerated() {
            path += "/" + part
            if unsafe mkdir(path, index == parts.count - 1 ? 0o700 : 0o755) == 0 || errno == EEXIST { continue }
            throw self.unwritable(path, errno)
        }
        guard unsafe access(self.root, W_OK | X_OK) == 0 else { throw self.unwritable(self.root, errno) }
    }

    /// A folder that only the server's user may enter.
    func makeOwned(_ path: String) throws(PrivateClusterError) {
        if unsafe mkdir(path, 0o700) == 0 {
            if let user = self.user, unsafe chown(path, user.user, user.group) != 0 {
                throw self.unwritable(path, errno)
            }
            return
        }
        guard errno == EEXIST else { throw self.unwritable(path, errno) }
        guard let status = try ClusterDirectory.status(path), status.isFolder else {
            throw PrivateClusterError(.notACluster, "\(path) is in the way: it is not a folder")
        }
        let owner = self.user?.user ?? geteuid()
        guard status.owner == owner else {
            throw PrivateClusterError(
                .unwritable,
                "\(path) belongs to user \(status.owner), the database runs as user \(owner); "
                    + "start walletorders as before, or change the owner of what is in it"
            )
        }
        // PostgreSQL refuses a data directory that others may enter; for the socket it is our only gate.
        if status.mode & 0o077 != 0, unsafe chmod(path, 0o700) != 0 { throw self.unwritable(path, errno) }
    }

    /// The server's user must be able to pass through every folder above its data.
    private func checkReach() throws(PrivateClusterError) {
        guard let user = self.user else { return }
        var path = ""
        var folders = ["/"]
        for part in self.root.split(separator: "/") {
            path += "/" + part
            folders.append(path)
        }
        for folder in folders {
            guard let status = try ClusterDirectory.status(folder), !status.isPassable(for: user) else { continue }
            // Our own folder, made with mode 0700: the server's group may pass, and still nobody may look around.
            if folder == self.root, status.owner == geteuid(), try self.isOurs() {
                if unsafe chown(folder, geteuid(), user.group) == 0,
                    unsafe chmod(folder, status.mode & 0o700 | 0o010) == 0
                {
                    continue
                }
            }
            throw PrivateClusterError(
                .unreachable,
                "the database runs as user \(user.name), which may not pass through \(folder) "
                    + "(mode \(String(status.mode & 0o777, radix: 8))); choose a data directory elsewhere, "
                    + "such as /var/lib/walletorders, or run: chmod o+x \(folder)"
            )
        }
    }

    /// Whether the data directory is the program's alone, and not, by mistake, someone's home.
    private func isOurs() throws(PrivateClusterError) -> Bool {
        guard let root = try ClusterDirectory.status(self.root) else { return false }
        var homes = ["/"]
        if let home = unsafe getenv("HOME") { unsafe homes.append(String(cString: home)) }
        if let entry = unsafe getpwuid(geteuid()), let home = unsafe entry.pointee.pw_dir {
            unsafe homes.append(String(cString: home))
        }
        for home in homes where try ClusterDirectory.status(home)?.isSame(as: root) == true { return false }
        return true
    }

    private func unwritable(_ path: String, _ code: Int32) -> PrivateClusterError {
        let reason = unsafe String(cString: strerror(code))
        return PrivateClusterError(
            .unwritable,
            "can't write \(path): \(reason); choose another data directory or change its owner"
        )
    }

    /// Removes clusters that were never finished. One that a killed program's `initdb` still writes to may resist, and is
    /// left for another time.
    func removeDrafts() throws(PrivateClusterError) {
        let root = self.root
        let names = try ClusterDirectory.look { () throws(SystemError) in try Folder.names(in: root) }
        for name in names where name.hasPrefix(Self.unfinished) {
            do throws(SystemError) { try Files.removeTree(root + "/" + name) } catch {}
        }
    }

    // MARK: What is there

    /// The major version of the data directory; nil when there is no cluster yet.
    ///
    /// - Throws: `.notACluster` when there is something else, `.failed` when it can't be looked at.
    func version() throws(PrivateClusterError) -> Int? {
        let data = self.data
        if let text = try ClusterDirectory.look({ () throws(SystemError) in try File.read(data + "/PG_VERSION") }) {
            if let major = Int(text.prefix { $0.isNumber }) { return major }
        } else if try ClusterDirectory.look({ () throws(SystemError) in try Folder.names(in: data) }).isEmpty {
            return nil
        }
        throw PrivateClusterError(
            .notACluster,
            "\(self.data) is not empty and holds no database; move what is in it away"
        )
    }

    // MARK: Lock

    /// Takes away what a killed server left beside its socket; call it with the lock held and no server running.
    ///
    /// A server refuses to start while the process named there exists. A killed one that nobody has waited for does, and so
    /// does another that got its number; the folder has no other users.
    func removeSocketLock() { unsafe unlink(self.socket + "/.s.PGSQL.5432.lock") }

    /// Takes the directory for this process. The kernel gives the lock back when the process ends, however it does.
    ///
    /// - Returns: the descriptor that holds the lock.
    /// - Throws: `.inUse`, `.unwritable`.
    func lock() throws(PrivateClusterError) -> Int32 {
        let descriptor = unsafe open(self.lockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw self.unwritable(self.lockFile, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            let holder = ((try? File.read(self.lockFile)) ?? nil)?.prefix { $0.isNumber } ?? ""
            throw PrivateClusterError(
                .inUse,
                "another walletorders (process \(holder.isEmpty ? "unknown" : String(holder))) uses \(self.root); "
                    + "stop it, or give this one a data directory of its own"
            )
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }
}
