// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ServiceRuntime
import TestPatience
import Testing

/// A program that runs beside a test: what it writes is read as it comes, and it is ended by its process identifier.
final class RunningProgram: Sendable {
    private struct State: Sendable {
        var text = ""
        var waiting: [(needle: String, start: Int, found: Signal)] = []
    }

    let process: ChildProcess
    private let state = Locked(State())
    private let isReaped = Locked(false)
    /// Fired at the end of its output: it has ended then.
    private let silent = Signal()
    private let loop: EventLoop
    /// One for each program at work.
    private static let threads = BlockingThreads(limit: 32)

    var pid: Int32 { self.process.pid }
    /// All it has written so far, standard error too.
    var text: String { self.state.withLock { $0.text } }

    /// Starts a program, which is told to end when this process is gone, however it went.
    ///
    /// - Parameter errorFile: gets standard error instead of the text.
    init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        errorFile: String = "/dev/stdout"
    ) throws {
        self.loop = try EventLoop(name: "reader")
        var ends: [Int32] = [-1, -1]
        // Closed in children from the start (SOCK_CLOEXEC has the value of O_CLOEXEC): another test's child must not hold it.
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0, &ends) == 0 else {
            throw SystemError.last("socketpair")
        }
        defer { close(ends[1]) }
        let redirection = errorFile == "/dev/stdout" ? "2>&1" : "2>>\"$file\""
        let output = ends[1]
        let words =
            [
                "--pdeathsig", "TERM", "--", "/bin/sh", "-c", "file=$1; shift; exec \"$0\" \"$@\" \(redirection)",
                executable, errorFile,
            ] + arguments
        self.process = try RunningProgram.onThread(of: self.loop) {
            try ChildProcess("/usr/bin/setpriv", words, environment: environment, output: output)
        }
        let descriptor = ends[0]
        self.loop.spawn {
            do { try await Self.threads.run { self.read(descriptor) } } catch {}
            self.silent.fire()
        }
    }

    /// Starts a child on a thread that lives as long as it: the signal goes out when the *thread* that started it ends.
    private static func onThread(
        of loop: EventLoop,
        _ start: @escaping @Sendable () throws -> ChildProcess
    ) throws -> ChildProcess {
        let child = Locked<Result<ChildProcess, any Error>?>(nil)
        let isStarted = DispatchSemaphore(value: 0)
        loop.execute {
            let result = Result { try start() }
            child.withLock { $0 = result }
            isStarted.signal()
        }
        isStarted.wait()
        return try #require(child.withLock { $0 }).get()
    }

    private func read(_ descriptor: Int32) {
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count <= 0 { return }
            let new = String(decoding: buffer[0..<count], as: UTF8.self)
            self.state.withLock { state in
                state.text += new
                state.waiting.removeAll { needle, start, found in
                    guard String(decoding: state.text.utf8.dropFirst(start), as: UTF8.self).contains(needle) else {
                        return false
                    }
                    found.fire()
                    return true
                }
            }
        }
    }

    /// Waits until it has written a text.
    ///
    /// - Parameter start: leaves out what it had written by then, in bytes of `text`.
    func says(_ needle: String, after start: Int = 0) async throws {
        let found = Signal()
        self.state.withLock { state in
            if String(decoding: state.text.utf8.dropFirst(start), as: UTF8.self).contains(needle) {
                found.fire()
            } else {
                state.waiting.append((needle, start, found))
            }
        }
        let silent = self.silent
        do {
            try await withDeadline(Patience.long) {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { do { try await found.wait() } catch {} }
                    group.addTask { do { try await silent.wait() } catch {} }
                    await group.next()
                    group.cancelAll()
                }
            }
        } catch {}
        let heard = String(decoding: self.text.utf8.dropFirst(start), as: UTF8.self)
        try #require(heard.contains(needle), "waited for '\(needle)', it wrote: \(self.text)")
    }

    /// What it wrote between two texts, for the first time.
    func value(after prefix: String, upTo end: Character) throws -> String {
        let text = self.text
        let start = try #require(text.firstRange(of: prefix), "'\(prefix)' is not in: \(text)")
        return String(text[start.upperBound...].prefix { $0 != end })
    }

    /// Sends a signal.
    func send(_ signal: Int32) { self.process.send(signal) }

    /// Ends it if it is still there, without ado.
    func abandon() async {
        if self.isReaped.withLock({ $0 }) { return }
        do { _ = try await self.end(SIGKILL) } catch {}
    }

    /// Waits for its end; the exit status, or 128 + the signal. One that does not end in time is killed, and fails the test.
    func end(_ signal: Int32? = nil) async throws -> Int32 {
        if let signal { self.send(signal) }
        let (process, isLate, isReaped) = (self.process, Locked(false), self.isReaped)
        self.loop.execute {
            _ = self.loop.schedule(after: Patience.long) {
                if isReaped.withLock({ $0 }) { return }
                isLate.withLock { $0 = true }
                process.send(SIGKILL)
            }
        }
        let status = try await Self.threads.run { () -> Int32 in
            var status: Int32 = 0
            while unsafe waitpid(process.pid, &status, 0) < 0 { if errno != EINTR { return -1 } }
            return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
        }
        self.isReaped.withLock { $0 = true }
        try await self.silent.wait()
        await self.loop.shutdown()
        try #require(!isLate.withLock { $0 }, "it did not end within \(Patience.long), it wrote: \(self.text)")
        return status
    }
}

extension TestInstallation {
    /// The data directory.
    var data: String { self.directory + "/d" }

    /// Whether there is a file or folder whose path begins so: what is in the making has a name that nobody knows.
    static func exists(_ start: String) -> Bool {
        let path = start.split(separator: "/", omittingEmptySubsequences: false)
        let names = (try? Files.list(path.dropLast().joined(separator: "/"))) ?? []
        return names.contains { $0.hasPrefix(path.last ?? "") }
    }

    /// Runs a test with an installation of its own; whatever it started is ended, and its files are removed.
    static func use<Value>(_ body: (TestInstallation) async throws -> Value) async throws -> Value {
        let installation = try TestInstallation()
        let result: Result<Value, any Error>
        do { result = .success(try await body(installation)) } catch { result = .failure(error) }
        for program in installation.programs.withLock({ $0 }) { await program.abandon() }
        try installation.remove()
        return try result.get()
    }

    /// Starts a program that ends with the installation at the latest.
    func launch(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        errorFile: String = "/dev/stdout"
    ) throws -> RunningProgram {
        let program = try RunningProgram(
            executable,
            arguments,
            environment: environment,
            errorFile: errorFile
        )
        self.programs.withLock { $0.append(program) }
        return program
    }

    /// Starts `run` in the data directory and waits until it serves.
    func start(
        _ arguments: [String] = TestInstallation.freePorts,
        errorFile: String = "/dev/stdout"
    ) async throws -> RunningProgram {
        let program = try self.launch(
            Self.program,
            ["run", "--data-dir", self.data] + arguments,
            errorFile: errorFile
        )
        try await program.says("Create an order:")
        return program
    }

    /// The processes that work in the data directory: the program, its database, what either left behind.
    func processes() async throws -> String {
        try await ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                """
                for p in /proc/[0-9]*; do
                    case "$(readlink "$p/cwd") $(tr '\\0' ' ' <"$p/cmdline")" in
                        *processes-of*) ;;
                        *"$1/"*) tr '\\0' ' ' <"$p/cmdline" ;;
                    esac
                done 2>/dev/null
                """, "processes-of", self.directory,
            ]
        ).text
    }

    /// A port that nobody listens on.
    func freePort() async throws -> String {
        try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"]
        ).text.filter { $0 != "\n" }
    }

    /// Starts `run` for the sake of its PostgreSQL server, and makes an empty database there; its URL, with a password.
    func startDatabase() async throws -> String {
        _ = try await self.start()
        let socket = self.data + "/socket"
        let made = try await ChildProcess.run(
            "/usr/bin/psql",
            ["-h", socket, "-U", "postgres", "-qc", "create database shop owner walletorders"]
        )
        try #require(made.status == 0, "\(made.errorText)")
        return "postgres://walletorders:Hush4711@/shop?host=\(socket)"
    }

    /// What pg_controldata tells of the cluster: "shut down" when it ended well.
    func clusterState() async throws -> String {
        let result = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c", "LC_ALL=C /usr/lib/postgresql/*/bin/pg_controldata \"$0\" | grep 'cluster state'",
                self.data + "/pg",
            ]
        )
        return String(result.text.split(separator: ":").last ?? "").filter { $0 != "\n" }
    }

    /// Runs a Python script with the merchant key's file as its second argument.
    func python(_ script: String, _ address: String, _ arguments: [String] = []) async throws -> ChildProcess.Result {
        try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", script, address, self.data + "/keys/merchant-api.key"] + arguments
        )
    }
}
