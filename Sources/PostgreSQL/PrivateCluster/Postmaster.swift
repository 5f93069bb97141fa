// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// A running server as its `postmaster.pid` tells of it. Everything here blocks.
internal struct Postmaster: Sendable, Equatable {
    let pid: Int32
    /// Whether it takes connections: line 8 says `ready`.
    let isReady: Bool

    /// Reads the text of a `postmaster.pid`: process, data directory, start time, port, socket directory, address, shared
    /// memory, state.
    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.first, let pid = Int32(first.trimmingSpaces), pid > 1 else { return nil }
        self.pid = pid
        self.isReady = lines.count > 7 && lines[7].trimmingSpaces == "ready"
    }

    /// What the file in a data directory says, true or not.
    ///
    /// - Throws: when the file can't be read.
    static func recorded(in data: String) throws(SystemError) -> Postmaster? {
        guard let text = try File.read(data + "/postmaster.pid") else { return nil }
        return Postmaster(parsing: text)
    }

    /// Whether that process lives and is a server on this data directory: a number can have been taken over by any
    /// program since.
    func isAlive(in data: String) throws(SystemError) -> Bool { try Postmaster.serves(self.pid, data) }

    private static func serves(_ pid: Int32, _ data: String) throws(SystemError) -> Bool {
        guard try Postmaster.isServer(pid) else { return false }
        // A server works inside its data directory. Another user's may not be looked at: then the name must do.
        guard let mine = try FileStatus(data), let its = Postmaster.folder(of: pid) else { return true }
        return mine.isSame(as: its)
    }

    /// The folder that a process works in; nil when it has ended or is another user's.
    private static func folder(of pid: Int32) -> FileStatus? {
        do throws(SystemError) { return try FileStatus("/proc/\(pid)/cwd") } catch { return nil }
    }

    /// Ends whatever an earlier process of ours left running on a data directory, and removes a stale `postmaster.pid`.
    ///
    /// A killed program's server gets its parent-death signal and shuts down by itself, but may be still at it; and a server
    /// that was killed as well can have left sessions behind, which PostgreSQL would wait for.
    ///
    /// - Returns: whether anything had to be ended.
    /// - Throws: `.inUse` when it does not end.
    ///   `SystemError` when it can't be looked whether one runs.
    static func clearAway(in data: String) throws -> Bool {
        guard let recorded = try Postmaster.recorded(in: data) else { return false }
        var hadToEnd = false
        if try recorded.isAlive(in: data) {
            hadToEnd = true
            // Fast shutdown, then immediate; the latter costs a recovery at the next start, nothing else.
            let isGone =
                try Postmaster.end(recorded.pid, in: data, SIGINT, seconds: 20)
                || Postmaster.end(recorded.pid, in: data, SIGQUIT, seconds: 10)
            guard isGone else {
                throw PrivateClusterError(
                    .inUse,
                    "a database server (process \(recorded.pid)) runs on \(data) and does not end; stop it"
                )
            }
        }
        let left = try Folder.names(in: "/proc").compactMap { Int32($0) }
            .filter { try Postmaster.servesForSure($0, data) }
        if !left.isEmpty {
            hadToEnd = true
            // All first: the process that writes the log heeds no signal, it ends when the others have.
            for pid in left { kill(pid, SIGQUIT) }
            for pid in left where try !Postmaster.isGone(pid, data, seconds: 10) {
                throw PrivateClusterError(.inUse, "a session of a former server (process \(pid)) does not end; stop it")
            }
        }
        if let left = try Postmaster.recorded(in: data), try !left.isAlive(in: data) {
            unsafe unlink(data + "/postmaster.pid")
        }
        return hadToEnd
    }

    private static func servesForSure(_ pid: Int32, _ data: String) throws(SystemError) -> Bool {
        guard let mine = try FileStatus(data), let its = Postmaster.folder(of: pid), mine.isSame(as: its) else {
            return false
        }
        return try Postmaster.isServer(pid)
    }

    /// Whether a process is a PostgreSQL program that still runs. One that nobody has waited for yet is dead, though its
    /// number is still taken: in a container nobody may ever do so.
    private static func isServer(_ pid: Int32) throws(SystemError) -> Bool {
        guard let text = try File.read("/proc/\(pid)/stat"),
            let name = text.split(separator: "(", maxSplits: 1).last, name.hasPrefix("postgres"),
            let state = text.split(separator: ")").last?.first(where: { $0 != " " })
        else { return false }
        return state != "Z" && state != "X"
    }

    private static func end(_ pid: Int32, in data: String, _ signal: Int32, seconds: Int) throws(SystemError) -> Bool {
        if kill(pid, signal) != 0, errno == EPERM { return false }
        return try Postmaster.isGone(pid, data, seconds: seconds)
    }

    private static func isGone(_ pid: Int32, _ data: String, seconds: Int) throws(SystemError) -> Bool {
        for _ in 0..<seconds * 200 {
            if try !Postmaster.serves(pid, data) { return true }
            usleep(5_000)
        }
        return false
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
