// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
package import ServiceRuntime

/// A PostgreSQL that this process owns: made on first use, reachable through a Unix socket only.
///
/// The socket lies in a folder of mode 0700. Who can enter it (the server's user, and root) could read the data files as
/// well, so authentication is `trust`: a password would have to lie beside the data, and guard nothing.
///
/// As root the server runs as user `postgres`, since PostgreSQL refuses root. The server is our child, gets a fast-shutdown
/// signal from the kernel when we are killed, and what is left of it at the next start is ended first.
package final class PrivateCluster: Service, Sendable {
    package let name = "private-cluster"

    private struct State: Sendable {
        var process: ChildProcess?
        var exited = Signal()
        var lock: Int32 = -1
        var loop: EventLoop?
    }

    private let root: String
    private let settings: [String: String]
    private let isDurable: Bool
    private let longestPause: Duration
    private let logger: Logger
    private let state = Locked(State())
    /// Its own, since one of them waits for the server's end as long as it runs.
    private let threads = BlockingThreads(limit: 2)

    /// The database and role that walletorders uses.
    package static let databaseName = "walletorders"

    /// Describes a cluster; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - directory: the program's data directory; `pg/` and `socket/` are made in it.
    ///   - settings: server settings beside those in `postgresql.conf`.
    ///   - isDurable: false for tests: a crash of the machine may then destroy the data.
    ///   - longestPause: before a server that keeps ending is started once more.
    package init(
        directory: String,
        logger: Logger,
        settings: [String: String] = [:],
        isDurable: Bool = true,
        longestPause: Duration = .seconds(30)
    ) {
        self.longestPause = longestPause
        self.root = directory
        self.logger = logger
        self.settings = settings
        self.isDurable = isDurable
    }

    // MARK: Finding it

    /// How to connect to it, as the owner of the database `walletorders`.
    package var configuration: PostgresConfiguration { PrivateCluster.configuration(in: self.root) }

    /// How to connect as the cluster's superuser.
    package var administration: PostgresConfiguration {
        var configuration = self.configuration
        configuration.database = "postgres"
        configuration.user = "postgres"
        return configuration
    }

    /// How to connect to the cluster in a data directory, if its server is running: for commands beside `run`.
    ///
    /// - Throws: `.failed` when it can't be looked whether it is.
    package static func running(in directory: String) throws(PrivateClusterError) -> PostgresConfiguration? {
        let data = directory + "/pg"
        do throws(SystemError) {
            guard let postmaster = try Postmaster.recorded(in: data), postmaster.isReady,
                try postmaster.isAlive(in: data)
            else { return nil }
        } catch {
            throw PrivateClusterError(.failed, "whether a database runs in \(directory) can't be seen: \(error)")
        }
        return self.configuration(in: directory)
    }

    /// Which other process has the cluster of a data directory to itself; nil when none has.
    package static func use(of directory: String) -> PrivateClusterError? {
        do throws(PrivateClusterError) {
            close(try ClusterDirectory(root: directory).lock())
            return nil
        } catch {
            return error.code == .inUse ? error : nil
        }
    }

    private static func configuration(in directory: String) -> PostgresConfiguration {
        PostgresConfiguration(
            socketDirectory: ClusterDirectory.socket(in: ClusterDirectory.absolute(directory)),
            database: self.databaseName,
            user: self.databaseName
        )
    }

    // MARK: Life

    /// Starts the server, after making the cluster if there is none; returns once the database takes connections.
    ///
    /// When the task is cancelled, what was begun is put away: a new cluster half made, or the server.
    ///
    /// - Throws: `PrivateClusterError`.
    package func start() async throws(PrivateClusterError) {
        do {
            try await self.startServer()
        } catch let error as PrivateClusterError {
            await self.stop()
            throw error
        } catch {
            await self.stop()
            throw PrivateClusterError(.failed, "the database can't be started: \(error)")
        }
    }

    /// Stops the server: open sessions are ended, everything is on disk (SIGINT); at once after 20 s (SIGQUIT).
    package func stop() async { await self.stop(heedsCancellation: false) }

    /// - Parameter heedsCancellation: whether a cancelled task ends the server's time for an orderly end. What is on disk
    ///   then is enough to recover from, which costs the next start a moment.
    private func stop(heedsCancellation: Bool) async {
        let (process, exited, loop) = self.state.withLock { state -> (ChildProcess?, Signal, EventLoop?) in
            defer { state.process = nil }
            return (state.process, state.exited, state.loop)
        }
        if let process, !exited.isFired {
            process.send(SIGINT)
            if await !self.waits(for: exited, .seconds(20), heedsCancellation: heedsCancellation) {
                self.logger.warning("the database does not shut down; ending it at once")
                process.send(SIGQUIT)
                if await !self.waits(for: exited, .seconds(heedsCancellation && Task.isCancelled ? 1 : 10)) {
                    process.send(SIGKILL)
                    _ = await self.waits(for: exited, .seconds(5))
                }
            }
        }
        if let loop { await loop.shutdown() }
        self.state.withLock { state in
            if state.lock >= 0 { close(state.lock) }
            state = State()
        }
    }

    /// Waits for a signal, even when the task is cancelled unless that is heeded: the caller holds a server by the hand.
    private func waits(for signal: Signal, _ duration: Duration, heedsCancellation: Bool = false) async -> Bool {
        guard let loop = self.state.withLock({ $0.loop }) else { return signal.isFired }
        let over = Signal()
        loop.spawn {
            do { try await withDeadline(duration) { try await signal.wait() } } catch {}
            over.fire()
        }
        if heedsCancellation {
            do { try await over.wait() } catch {}
        } else {
            await over.waitUncancelled()
        }
        return signal.isFired
    }

    /// Runs until the shutdown; a server that ends by itself is started again, however often it does.
    package func run(shutdown: Signal) async throws {
        if self.state.withLock({ $0.process == nil }) { try await self.start() }
        var pauses = RestartPauses(longest: self.longestPause)
        while true {
            let exited = self.state.withLock { $0.exited }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { do { try await shutdown.wait() } catch {} }
                group.addTask { do { try await exited.wait() } catch {} }
                await group.next()
                group.cancelAll()
            }
            if shutdown.isFired || Task.isCancelled { break }
            self.logger.error("the database server ended; starting it again")
            await self.stop()
            guard await self.restart(&pauses, until: shutdown) else { return }
        }
        await self.stop(heedsCancellation: true)
    }

    /// Starts the server again, after a pause that grows as long as it does not stay up, also when it ends while it starts.
    /// It never gives up: a full disk is emptied while the program waits.
    ///
    /// - Returns: false when the shutdown came first.
    private func restart(_ pauses: inout RestartPauses, until shutdown: Signal) async -> Bool {
        while true {
            let pause = pauses.next(now: MonotonicTime.now())
            if pause > .zero { do { try await withDeadline(pause) { try await shutdown.wait() } } catch {} }
            if shutdown.isFired || Task.isCancelled { return false }
            do {
                try await self.start()
                return true
            } catch {
                // `start` has put away what it began.
                if shutdown.isFired || Task.isCancelled { return false }
                self.logger.error("the database server did not start; trying again", ["error": "\(error)"])
            }
        }
    }

    // MARK: Starting

    private func startServer() async throws {
        let root = self.root
        let directory = try ClusterDirectory(root: root)
        let version = try await self.threads.run {
            try directory.prepare()
            // Whatever fails from here on, `stop` gives it back.
            let lock = try directory.lock()
            self.state.withLock { $0.lock = lock }
            return try directory.version()
        }
        let loop = try EventLoop(name: "pg-cluster")
        self.state.withLock { $0.loop = loop }
        let programs = try await ServerPrograms.find(major: version)
        if version == nil { try await self.create(directory, programs) }
        let hadToEnd = try await self.threads.run {
            let hadToEnd = try Postmaster.clearAway(in: directory.data)
            directory.removeSocketLock()
            return hadToEnd
        }
        if hadToEnd {
            self.logger.notice("ended the database server that a former process had left running")
        }
        try await self.launch(directory, programs, loop)
        try await self.waitUntilReady(directory)
        try await self.createDatabase(on: loop)
    }

    /// `initdb` beside the final place, so that one cut short leaves nothing that looks like a cluster.
    private func create(_ directory: ClusterDirectory, _ programs: ServerPrograms) async throws {
        self.logger.notice("making a new database", ["directory": .string(directory.data)])
        let draft = directory.draft()
        try await self.threads.run {
            try directory.removeDrafts()
            try directory.makeOwned(draft)
        }
        // It ends with us: it must not be at work on the same disk when the program is started again.
        var arguments = ["--pdeathsig", "KILL"]
        if let user = directory.user {
            arguments += ["--reuid=\(user.user)", "--regid=\(user.group)", "--init-groups"]
        }
        arguments += [
            "--", programs.initdb, "--pgdata=\(draft)", "--username=postgres", "--auth=trust", "--encoding=UTF8",
            "--locale=C",
            "--data-checksums",
        ]
        if !self.isDurable { arguments.append("--no-sync") }
        // Cut short, it leaves a folder that the next start removes.
        let result = try await ChildProcess.run(
            "/usr/bin/setpriv",
            arguments,
            environment: PrivateCluster.environment
        )
        try Task.checkCancellation()
        guard result.status == 0 else {
            throw PrivateClusterError(.failed, "initdb failed: \(result.errorText.suffix(600))")
        }
        guard File.append(PrivateCluster.serverSettings, to: draft + "/postgresql.conf"),
            unsafe rename(draft, directory.data) == 0
        else { throw SystemError.last("rename \(draft)") }
    }

    private static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"]

    /// The defaults of a new cluster; an operator may change them there.
    private static let serverSettings = """

        # Set by walletorders when it made this cluster. Small on purpose: it shares the machine with its only client.
        shared_buffers = 64MB
        work_mem = 4MB
        maintenance_work_mem = 32MB
        max_connections = 100
        max_wal_size = 512MB
        max_parallel_workers = 0
        max_logical_replication_workers = 0
        huge_pages = off
        jit = off
        timezone = UTC
        # One file a day of the week. Terse: details quote the values of rows, which may be someone's.
        logging_collector = on
        log_directory = 'log'
        log_filename = 'postgresql-%a.log'
        log_truncate_on_rotation = on
        log_rotation_age = 1d
        log_rotation_size = 0
        log_timezone = UTC
        log_error_verbosity = terse
        log_min_error_statement = panic

        """

    private func launch(_ directory: ClusterDirectory, _ programs: ServerPrograms, _ loop: EventLoop) async throws {
        var words = ["--pdeathsig", "INT"]
        if let user = directory.user {
            words += ["--reuid=\(user.user)", "--regid=\(user.group)", "--init-groups"]
        }
        words += ["--", programs.postgres, "-D", directory.data]
        var settings = [
            "listen_addresses": "", "unix_socket_directories": quoted(directory.socket),
            "unix_socket_permissions": "0700", "port": "5432",
        ]
        if !self.isDurable {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] { settings[name] = "off" }
        }
        settings.merge(self.settings) { _, given in given }
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) { words += ["-c", "\(name)=\(value)"] }

        let arguments = words
        // The parent-death signal goes out when the *thread* that started the child ends; these threads never do.
        let process = try await self.threads.run {
            let log = unsafe open(directory.startLog, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            defer { if log >= 0 { close(log) } }
            return try ChildProcess(
                "/usr/bin/setpriv",
                arguments,
                environment: PrivateCluster.environment,
                output: log
            )
        }
        let exited = Signal()
        self.state.withLock { state in
            state.process = process
            state.exited = exited
        }
        loop.spawn { [logger = self.logger, threads = self.threads] in
            let status = (try? await process.wait(on: threads)) ?? 127
            if status != 0 { logger.warning("the database server ended", ["status": .integer(Int(status))]) }
            exited.fire()
        }
    }

    private func waitUntilReady(_ directory: ClusterDirectory) async throws {
        let (process, exited) = self.state.withLock { ($0.process, $0.exited) }
        guard let process else { return }
        let cancelled = Signal()
        let isReady = try await withTaskCancellationHandler {
            try await self.threads.run {
                // Recovery after a crash may take its time; five minutes of it are a fault.
                for _ in 0..<60_000 {
                    if let recorded = try Postmaster.recorded(in: directory.data), recorded.pid == process.pid,
                        recorded.isReady
                    {
                        return true
                    }
                    if exited.isFired || cancelled.isFired { return false }
                    usleep(5_000)
                }
                return false
            }
        } onCancel: {
            cancelled.fire()
        }
        if isReady { return }
        try Task.checkCancellation()
        throw PrivateClusterError(
            .failed,
            "the database server did not start: \(Self.lastWords(directory).suffix(1_000)) "
                + "(its log is in \(directory.data)/log)"
        )
    }

    /// What the server said last: on its standard error, or in its log once it had turned to that.
    private static func lastWords(_ directory: ClusterDirectory) -> String {
        let words = File.tail(directory.startLog, limit: 4_096) ?? ""
        // What can't be looked at says nothing.
        let names = (try? Folder.names(in: directory.data + "/log")) ?? []
        let logs = names.compactMap { name -> (Duration, String)? in
            let path = directory.data + "/log/" + name
            return ((try? FileStatus(path)) ?? nil).map { ($0.modifiedAt, path) }
        }
        guard words.contains("redirecting log output"), let newest = logs.max(by: { $0.0 < $1.0 }),
            let tail = File.tail(newest.1, limit: 1_000)
        else { return words }
        return tail
    }

    /// Connects, and makes role and database when they are not there yet.
    private func createDatabase(on loop: EventLoop) async throws {
        let connector = Connector(configuration: self.configuration, loop: loop, logger: self.logger)
        let administrator = Connector(configuration: self.administration, loop: loop, logger: self.logger)
        try await loop.run {
            do throws(PostgresError) {
                return try await connector.connect().close()
            } catch {
                guard error.code == .noDatabase || error.code == .refused else { throw error }
            }
            let connection = try await administrator.connect()
            defer { connection.close() }
            try await connection.script(
                """
                do $$ begin create role walletorders login; exception when duplicate_object then null; end $$
                """
            )
            // It copies files: on a slow disk that takes longer than the session's own limit.
            try await connection.script("set statement_timeout = 0")
            try await connection.script("create database walletorders owner walletorders", timeout: .seconds(60))
            try await connector.connect().close()
        }
    }
}
