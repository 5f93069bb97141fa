// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An operating-system user to run a child as.
package struct UserIdentity: Sendable, Hashable {
    /// The user's name, as `setpriv --reuid` takes it.
    package let name: String
    /// Its numeric user identifier.
    package let user: UInt32
    /// Its numeric group identifier.
    package let group: UInt32

    /// Looks a user up by name; nil when there is none.
    ///
    /// - Throws: when it can't be looked up, which does not say that there is none.
    package init?(name: String) throws(SystemError) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard code == 0 || code == ENOENT || code == ESRCH else {
            throw SystemError(operation: "look up user \(name)", errno: code)
        }
        guard unsafe found != nil else { return nil }
        self.name = name
        self.user = unsafe entry.pw_uid
        self.group = unsafe entry.pw_gid
    }
}

/// A program started by this one.
///
/// Started by `posix_spawn` with a clean signal mask and no inherited descriptors but its own three. Another user's
/// identity is taken on through `setpriv` (util-linux, always there on Debian), which replaces itself by the program.
@safe
package final class ChildProcess: Sendable {
    /// The process identifier.
    package let pid: Int32
    private let statusBox = Locked<Int32?>(nil)

    /// Starts a program that goes on by itself; standard input is empty.
    ///
    /// - Parameters:
    ///   - executable: an absolute path.
    ///   - environment: the whole environment; nil hands on ours.
    ///   - user: whom to run it as, when we are root.
    ///   - output: a descriptor that gets standard output and standard error; -1 discards them.
    package init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        user: UserIdentity? = nil,
        output: Int32 = -1
    ) throws(SystemError) {
        self.pid = try ChildProcess.spawn(
            executable,
            arguments,
            environment: environment,
            user: user,
            input: -1,
            output: output,
            errorOutput: output
        )
    }

    /// Sends a signal; nothing happens when the process has been waited for.
    package func send(_ signal: Int32) {
        self.statusBox.withLock { status in
            if status == nil { kill(self.pid, signal) }
        }
    }

    /// Waits for the end and tells the exit status; 128 + the signal when one ended it. Call it once, it holds a thread.
    ///
    /// - Parameter threads: one of which is held.
    package func wait(on threads: BlockingThreads = .shared) async throws -> Int32 {
        try await threads.run {
            ChildProcess.awaitEnd(self.pid)
            // Its number is its own until it is reaped, and is not sent a signal from then on.
            return self.statusBox.withLock { status in
                let code = ChildProcess.reap(self.pid)
                status = code
                return code
            }
        }
    }

    /// Waits until a child has ended, and leaves it unreaped.
    private static func awaitEnd(_ pid: Int32) {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    /// What a finished program left.
    package struct Result: Sendable {
        /// The exit status; 128 + the signal when one ended it.
        package let status: Int32
        /// Standard output, cut at the limit.
        package let output: [UInt8]
        /// Standard error, cut at the limit.
        package let errorOutput: [UInt8]

        /// Standard output as text.
        package var text: String { String(decoding: self.output, as: UTF8.self) }
        /// Standard error as text.
        package var errorText: String { String(decoding: self.errorOutput, as: UTF8.self) }
    }

    /// A program under way, and whether it is still wanted.
    private struct Errand: Sendable {
        /// Nil before its start and once it is about to be reaped: then the number may be another's.
        var pid: Int32?
        var isCancelled = false
    }

    /// Runs a program to its end and collects what it writes. When the task is cancelled, the program and what it started
    /// are killed.
    ///
    /// - Parameters:
    ///   - input: given on standard input.
    ///   - limit: how much of each output is kept; the rest is read and dropped.
    /// - Throws: `SystemError` when it can't be started.
    package static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        user: UserIdentity? = nil,
        input: [UInt8] = [],
        limit: Int = 1 << 20
    ) async throws -> Result {
        let errand = Locked(Errand())
        return try await withTaskCancellationHandler {
            try await self.run(
                executable,
                arguments,
                environment: environment,
                user: user,
                input: input,
                limit: limit,
                errand
            )
        } onCancel: {
            errand.withLock { errand in
                errand.isCancelled = true
                // Each child has a process group of its own.
                if let pid = errand.pid { kill(-pid, SIGKILL) }
            }
        }
    }

    private static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]?,
        user: UserIdentity?,
        input: [UInt8],
        limit: Int,
        _ errand: Locked<Errand>
    ) async throws -> Result {
        try await runBlocking {
            var pipes: [[Int32]] = []
            defer { for pair in pipes { for end in pair where end >= 0 { close(end) } } }
            for _ in 0..<3 {
                var ends: [Int32] = [-1, -1]
                guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemError.last("pipe2") }
                pipes.append(ends)
            }
            let pid = try ChildProcess.spawn(
                executable,
                arguments,
                environment: environment,
                user: user,
                input: pipes[0][0],
                output: pipes[1][1],
                errorOutput: pipes[2][1]
            )
            errand.withLock { errand in
                errand.pid = pid
                if errand.isCancelled { kill(-pid, SIGKILL) }
            }
            for (pair, end) in [(0, 0), (1, 1), (2, 1)] {
                close(pipes[pair][end])
                pipes[pair][end] = -1
            }
            let outputs = ChildProcess.exchange(input: input, pipes: &pipes, limit: limit)
            // Its number is its own until it is reaped, and is not sent a signal from then on.
            ChildProcess.awaitEnd(pid)
            errand.withLock { $0.pid = nil }
            return Result(status: ChildProcess.reap(pid), output: outputs.0, errorOutput: outputs.1)
        }
    }

    /// Feeds the input and reads both outputs until they end.
    private static func exchange(input: [UInt8], pipes: inout [[Int32]], limit: Int) -> ([UInt8], [UInt8]) {
        var outputs: [[UInt8]] = [[], []]
        var written = 0
        _ = fcntl(pipes[0][1], F_SETFL, O_NONBLOCK)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while pipes[1][0] >= 0 || pipes[2][0] >= 0 {
            if pipes[0][1] >= 0, written == input.count {
                close(pipes[0][1])
                pipes[0][1] = -1
            }
            var polls = [
                pollfd(fd: pipes[0][1], events: Int16(POLLOUT), revents: 0),
                pollfd(fd: pipes[1][0], events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipes[2][0], events: Int16(POLLIN), revents: 0),
            ]
            if unsafe poll(&polls, 3, -1) < 0, errno != EINTR { break }
            if polls[0].revents != 0, pipes[0][1] >= 0 {
                let count = unsafe input[written...].withUnsafeBytes {
                    unsafe write(pipes[0][1], $0.baseAddress, $0.count)
                }
                // The program closed its input: what is left is not wanted.
                written = count > 0 ? written + count : (errno == EAGAIN ? written : input.count)
            }
            for index in 1...2 where polls[index].revents != 0 && pipes[index][0] >= 0 {
                let count = unsafe read(pipes[index][0], &buffer, buffer.count)
                if count > 0 {
                    let room = max(0, limit - outputs[index - 1].count)
                    outputs[index - 1] += buffer[0..<min(count, room)]
                } else if count == 0 || errno != EINTR {
                    close(pipes[index][0])
                    pipes[index][0] = -1
                }
            }
        }
        return (outputs[0], outputs[1])
    }

    private static func reap(_ pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 {
            if errno != EINTR { return 127 }
        }
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
    }

    private static func spawn(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]?,
        user: UserIdentity?,
        input: Int32,
        output: Int32,
        errorOutput: Int32
    ) throws(SystemError) -> Int32 {
        var program = executable
        var words = [executable] + arguments
        if let user, geteuid() == 0 {
            program = "/usr/bin/setpriv"
            words = [program, "--reuid=\(user.user)", "--regid=\(user.group)", "--init-groups", "--", executable]
            words += arguments
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor, mode) in [(0, input, O_RDONLY), (1, output, O_WRONLY), (2, errorOutput, O_WRONLY)] {
            if descriptor >= 0 {
                unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
            } else {
                unsafe posix_spawn_file_actions_addopen(&actions, Int32(target), "/dev/null", mode, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A terminal's Ctrl-C goes to a process group: children are in one of their own and are stopped by us, in order.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        // What this process ignores, or was told to by a shell, is no business of the child.
        for signal in [SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTERM] { unsafe sigaddset(&defaults, signal) }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var pid: pid_t = 0
        let argv = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe argv.forEach { unsafe free($0) } }
        var code: Int32
        if let environment {
            let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
            defer { unsafe variables.forEach { unsafe free($0) } }
            code = unsafe posix_spawn(&pid, program, &actions, &attributes, argv, variables)
        } else {
            code = unsafe posix_spawn(&pid, program, &actions, &attributes, argv, environ)
        }
        if code != 0 { throw SystemError(operation: "start \(executable)", errno: code) }
        return pid
    }
}
