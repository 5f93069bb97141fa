// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

/// Runs a test with a client of a cluster.
private func withClient<R: Sendable>(
    of configuration: PostgresConfiguration,
    _ body: (PostgresClient) async throws -> R
) async throws -> R {
    let loops = try EventLoopGroup(count: 1, name: "cluster")
    let client = PostgresClient(configuration: configuration, loops: loops, logger: TestServer.logger)
    let result: Result<R, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await client.close()
    await loops.shutdown()
    return try result.get()
}

/// The error that starting a cluster is expected to end in.
private func startError(_ cluster: PrivateCluster) async -> PrivateClusterError? {
    do throws(PrivateClusterError) {
        try await cluster.start()
        await cluster.stop()
        return nil
    } catch {
        return error
    }
}

extension OwnClusterTests {
    struct PrivateClusterTests {
        /// Lays down what keeps a server from recovering: without a command that brings it the archive it refuses to.
        ///
        /// - Returns: the file that does it.
        private static func preventRecovery(in directory: String) throws -> String {
            let obstacle = directory + "/pg/recovery.signal"
            let descriptor = unsafe open(obstacle, O_WRONLY | O_CREAT, 0o600)
            try #require(descriptor >= 0)
            close(descriptor)
            if let user = try UserIdentity(name: "postgres"), geteuid() == 0 {
                try #require(unsafe chown(obstacle, user.user, user.group) == 0)
            }
            return obstacle
        }

        /// Kills a server, and keeps it from being started again until the log has so many lines.
        ///
        /// - Returns: the server that was killed.
        @discardableResult
        private static func end(
            in directory: String,
            until lines: Collector<String>,
            have count: Int
        ) async throws -> Postmaster {
            let obstacle = try preventRecovery(in: directory)
            let first = try #require(try Postmaster.recorded(in: directory + "/pg"))
            kill(first.pid, SIGKILL)
            try await lines.wait(for: count)
            unsafe unlink(obstacle)
            return first
        }

        @Test("What was stored is there after a stop and a start")
        func restart() async throws {
            try await withCluster { cluster, directory in
                try await withClient(of: cluster.configuration) { client in
                    try await client.withConnection {
                        try await $0.script("create table things (id bigint); insert into things values (1)")
                    }
                }
                let found = try PrivateCluster.running(in: directory)
                #expect(found?.hosts == cluster.configuration.hosts)
                await cluster.stop()
                #expect(try PrivateCluster.running(in: directory) == nil)
                let start = MonotonicTime.now()
                try await cluster.start()
                print("PostgreSQL started again in \((MonotonicTime.now() - start).inSeconds) s")
                let count = try await withClient(of: cluster.configuration) { client in
                    try await client.query(TestStatements.count)[0].int(0)
                }
                #expect(count == 1)
            }
        }

        @Test("Nobody else may enter, and no port is open")
        func isolation() async throws {
            let addresses = Statement("test_addresses", "select current_setting('listen_addresses')")
            let role = Statement("test_role", "select rolsuper from pg_roles where rolname = current_user")
            let cluster = try await TestServer.shared()
            let socket = try #require(cluster.configuration.hosts.first?.name)
            let status = try #require(try FileStatus(socket))
            #expect(status.mode & 0o777 == 0o700)
            #expect(try (FileStatus(socket + "/.s.PGSQL.5432")?.mode ?? 0) & 0o777 == 0o700)
            try await withClient(of: cluster.configuration) { client in
                let listening = try await client.query(addresses)[0].text(0)
                #expect(listening.isEmpty)
                let isSuperuser = try await client.query(role)[0].bool(0)
                #expect(!isSuperuser)
            }
        }

        @Test("A second one on the same directory is told who has it")
        func inUse() async throws {
            try await withCluster { _, directory in
                let error = await startError(TestServer.cluster(in: directory))
                #expect(error?.code == .inUse)
                #expect(error?.message.contains("process \(getpid())") == true)
                #expect(error?.exitStatus == 78)
                #expect(PrivateCluster.use(of: directory)?.message == error?.message)
            }
        }

        @Test("A directory that nobody has is free to look at, and stays so")
        func free() async throws {
            let directory = TestServer.directory()
            try Files.createDirectory(directory)
            #expect(PrivateCluster.use(of: directory) == nil && PrivateCluster.use(of: directory) == nil)
            await TestServer.remove(directory)
        }

        @Test("The lock of a killed server's socket does not hold up the next, though its number is taken again")
        func leftoverSocketLock() async throws {
            try await withCluster { cluster, directory in
                await cluster.stop()
                let other = try ChildProcess("/bin/sleep", ["60"], user: try UserIdentity(name: "postgres"))
                let lines = "\(other.pid)\n\(directory)/pg\n0\n5432\n\(directory)/socket\n"
                try Files.write(Array(lines.utf8), to: directory + "/socket/.s.PGSQL.5432.lock")
                let error = await startError(cluster)
                other.send(SIGKILL)
                _ = try await other.wait()
                #expect(error == nil)
            }
        }

        @Test("A server that a killed program left running is ended, and its data are whole")
        func orphan() async throws {
            try await withCluster { cluster, directory in
                await cluster.stop()
                // As `start` does it, but without the signal that the kernel sends when the parent dies.
                let programs = try await ServerPrograms.find(major: nil)
                let orphan = try ChildProcess(
                    programs.postgres,
                    [
                        "-D", directory + "/pg", "-c", "listen_addresses=", "-c",
                        "unix_socket_directories=\(directory)/socket",
                    ],
                    user: try UserIdentity(name: "postgres")
                )
                try await withClient(of: cluster.configuration) { client in
                    try await client.withConnection { try await $0.script("create table things (id bigint)") }
                }
                try await cluster.start()
                let status = try await orphan.wait()
                #expect(status == 0)
                let count = try await withClient(of: cluster.configuration) { client in
                    try await client.query(TestStatements.count)[0].int(0)
                }
                #expect(count == 0)
            }
        }

        @Test(
            "A stale postmaster.pid, also one whose number has another program now, is no obstacle",
            arguments: [true, false]
        )
        func stalePid(_ isTaken: Bool) async throws {
            try await withCluster { cluster, directory in
                await cluster.stop()
                let pid = isTaken ? getpid() : 4_000_000
                let text = "\(pid)\n\(directory)/pg\n1\n5432\n\(directory)/socket\n\n  1 2\nready   \n"
                let path = directory + "/pg/postmaster.pid"
                let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
                close(descriptor)
                if let user = try UserIdentity(name: "postgres"), geteuid() == 0 {
                    unsafe chown(path, user.user, user.group)
                }
                #expect(File.append(text, to: path))
                #expect(try PrivateCluster.running(in: directory) == nil)
                try await cluster.start()
                #expect(try PrivateCluster.running(in: directory) != nil)
            }
        }

        @Test("A server that is killed is started again, with a session of it still at work")
        func serverKilled() async throws {
            let busy = Statement("test_busy", "insert into things select count(*) from generate_series(1, 1000000000)")
            let directory = TestServer.directory()
            let cluster = TestServer.cluster(in: directory)
            try await cluster.start()
            let shutdown = Signal()
            async let running: Void = cluster.run(shutdown: shutdown)
            do {
                try await withClient(of: cluster.configuration) { client in
                    try await client.withConnection { try await $0.script("create table things (id bigint)") }
                    let started = Signal()
                    async let outcome = postgresError {
                        try await client.withConnection { connection in
                            started.fire()
                            _ = try await connection.query(busy)
                        }
                    }
                    try await started.wait()
                    let postmaster = try #require(try Postmaster.recorded(in: directory + "/pg"))
                    kill(postmaster.pid, SIGKILL)
                    let error = await outcome
                    #expect(error?.isConnectionLoss == true, "\(String(describing: error))")
                    let count = try await withDeadline(Patience.long) {
                        while true {
                            do { return try await client.query(TestStatements.count)[0].int(0) } catch {}
                        }
                    }
                    #expect(count == 0)
                }
            } catch {
                Issue.record(error)
            }
            shutdown.fire()
            try await running
            #expect(try Postmaster.recorded(in: directory + "/pg") == nil)
            await TestServer.remove(directory)
        }

        @Test("A server that also fails while it is started again is tried further, and its log is quoted")
        func restartFails() async throws {
            let directory = TestServer.directory()
            let lines = Collector<String>()
            let sink = LogSink(form: .text, level: .error) { lines.add(String(decoding: $0, as: UTF8.self)) }
            let logger = Logger(label: "test", sink: sink)
            let cluster = PrivateCluster(directory: directory, logger: logger, isDurable: false)
            try await cluster.start()
            let shutdown = Signal()
            async let running: Void = cluster.run(shutdown: shutdown)
            // That it ended, and that it did not start.
            let first = try await Self.end(in: directory, until: lines, have: 2)
            try await withDeadline(Patience.long) {
                while true {
                    if let found = try Postmaster.recorded(in: directory + "/pg"), found.isReady, found.pid != first.pid
                    {
                        return
                    }
                    try await sleep(for: .milliseconds(20))
                }
            }
            #expect(lines.all.contains { $0.contains("did not start") && $0.contains("restore_command") })
            shutdown.fire()
            try await running
            #expect(try Postmaster.recorded(in: directory + "/pg") == nil)
            await TestServer.remove(directory)
        }

        @Test("The pauses before a server is started again grow to the longest, and end when it stays up")
        func pauses() {
            var pauses = RestartPauses(longest: .seconds(30))
            var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
            var found: [Int64] = []
            for _ in 0..<8 {
                let pause = pauses.next(now: now)
                found.append(pause.nanoseconds / 1_000_000_000)
                now = now + pause + .milliseconds(500)
            }
            #expect(found == [0, 1, 2, 4, 8, 16, 30, 30])
            #expect(pauses.next(now: now + .seconds(301)) == .zero)
        }

        @Test("A server that can't start for a while does not end the program: it is tried until it can")
        func restartsForLong() async throws {
            let directory = TestServer.directory()
            let lines = Collector<String>()
            let sink = LogSink(form: .text, level: .error) { lines.add(String(decoding: $0, as: UTF8.self)) }
            let cluster = PrivateCluster(
                directory: directory,
                logger: Logger(label: "test", sink: sink),
                isDurable: false,
                longestPause: .milliseconds(20)
            )
            try await cluster.start()
            let shutdown = Signal()
            async let running: Void = cluster.run(shutdown: shutdown)
            // That it ended, and nine times that it did not start.
            try await Self.end(in: directory, until: lines, have: 10)
            try await withDeadline(Patience.long) {
                while try PrivateCluster.running(in: directory) == nil { try await sleep(for: .milliseconds(20)) }
            }
            shutdown.fire()
            try await running
            await TestServer.remove(directory)
        }

        @Test("What a killed program's initdb still writes does not meet the cluster that the next one makes")
        func leftoverDraft() async throws {
            let directory = TestServer.directory()
            unsafe mkdir(directory, 0o755)
            let writer = try ChildProcess(
                "/bin/sh",
                [
                    "-c", "while :; do mkdir -p \"$0\" && : > \"$0/$RANDOM$$\"; : > \"$0/PG_VERSION\"; done",
                    directory + "/pg.new",
                ]
            )
            let cluster = TestServer.cluster(in: directory)
            let error = await startError(cluster)
            writer.send(SIGKILL)
            _ = try await writer.wait()
            #expect(error == nil, "\(String(describing: error))")
            // The next start finds nobody at work there.
            let again = await startError(cluster)
            #expect(again == nil)
            await TestServer.remove(directory)
        }

        @Test("A start that fails for want of descriptors gives the directory's lock back")
        func lockAfterFailure() async throws {
            await #expect(processExitsWith: .success) {
                let directory = TestServer.directory()
                let cluster = TestServer.cluster(in: directory)
                let place = try ClusterDirectory(root: directory)
                try place.prepare()
                // The lock and one file at a time can be opened, a loop can't.
                exhaustDescriptors(but: 2)
                let first = await startError(cluster)
                #expect(first?.code == .failed)
                let lock = try place.lock()
                close(lock)
                _ = try? Files.removeTree(directory)
            }
        }

        @Test("What can't be looked at is not taken for absent")
        func unseen() async throws {
            await #expect(processExitsWith: .success) {
                let directory = TestServer.directory()
                let place = try ClusterDirectory(root: directory)
                try place.prepare()
                try Files.write(Array("15\n".utf8), to: place.data + "/PG_VERSION")
                try Files.write(Array("\(getpid())\n".utf8), to: place.data + "/postmaster.pid")
                exhaustDescriptors(but: 0)
                #expect(throws: PrivateClusterError(.failed, "")) { try place.version() }
                #expect(throws: (any Error).self) { try Postmaster.clearAway(in: place.data) }
                #expect(throws: PrivateClusterError(.failed, "")) { try PrivateCluster.running(in: directory) }
                if geteuid() == 0 {
                    #expect(throws: PrivateClusterError(.failed, "")) { try ClusterDirectory(root: directory) }
                }
                _ = try? Files.removeTree(directory)
            }
        }

        @Test("A folder from a time beyond any clock's count of nanoseconds is looked at like any other")
        func farTime() throws {
            let directory = TestServer.directory()
            try Files.createDirectory(directory)
            defer { _ = try? Files.removeTree(directory) }
            // In the year 2300.
            let times = [timespec(tv_sec: 10_413_792_000, tv_nsec: 1), timespec(tv_sec: 10_413_792_000, tv_nsec: 1)]
            try #require(unsafe utimensat(AT_FDCWD, directory, times, 0) == 0)
            let status = try #require(try FileStatus(directory))
            #expect(status.modifiedAt == .seconds(10_413_792_000) + .nanoseconds(1))
        }

        @Test("The socket's folder is known by its whole path, also where no cluster can be")
        func wholePath() throws {
            let cluster = TestServer.cluster(in: "data/" + String(repeating: "a", count: 100) + "/")
            let socket = try #require(cluster.configuration.hosts.first)
            #expect(socket.isSocket && socket.name.hasSuffix("aa/socket"), "\(socket.name)")
        }

        @Test("A server that heeds no signal does not hold up the program's end beyond its time")
        func stuckServer() async throws {
            let directory = TestServer.directory()
            let cluster = TestServer.cluster(in: directory)
            try await cluster.start()
            let postmaster = try #require(try Postmaster.recorded(in: directory + "/pg"))
            let group = ServiceGroup([cluster], drain: .seconds(2), logger: TestServer.logger)
            kill(postmaster.pid, SIGSTOP)
            let start = MonotonicTime.now()
            group.stop()
            try await group.run()
            let waited = MonotonicTime.now() - start
            #expect(waited < .seconds(6) * Patience.factor, "\(waited)")
            #expect(kill(postmaster.pid, 0) != 0)
            // What is left of it is no obstacle to the next.
            #expect(await startError(TestServer.cluster(in: directory)) == nil)
            await TestServer.remove(directory)
        }

        @Test("Another version's data directory is refused with what to do")
        func otherVersion() async throws {
            try await withCluster { cluster, directory in
                await cluster.stop()
                let path = directory + "/pg/PG_VERSION"
                _ = unsafe truncate(path, 0)
                #expect(File.append("14\n", to: path))
                let error = await startError(cluster)
                #expect(error?.code == .otherVersion)
                #expect(
                    error?.message.contains("PostgreSQL 14") == true && error?.message.contains("pg_upgrade") == true
                )
                #expect(error?.exitStatus == 78)
            }
        }

        @Test("A socket path that the kernel would not take is refused before anything is made")
        func longPath() async throws {
            let directory = "/tmp/" + String(repeating: "long", count: 25)
            let error = await startError(TestServer.cluster(in: directory))
            #expect(error?.code == .pathTooLong)
            #expect(try FileStatus(directory) == nil)
        }

        @Test("A folder that holds something else is left alone")
        func notACluster() async throws {
            let directory = TestServer.directory()
            unsafe mkdir(directory, 0o755)
            unsafe mkdir(directory + "/pg", 0o700)
            unsafe mkdir(directory + "/pg/letters", 0o700)
            if let user = try UserIdentity(name: "postgres"), geteuid() == 0 {
                unsafe chown(directory + "/pg", user.user, user.group)
            }
            let error = await startError(TestServer.cluster(in: directory))
            #expect(error?.code == .notACluster)
            #expect(try FileStatus(directory + "/pg/letters") != nil)
            await TestServer.remove(directory)
        }

        @Test("A place that can't be written is named")
        func unwritable() async throws {
            let file = TestServer.directory()
            let descriptor = unsafe open(file, O_WRONLY | O_CREAT, 0o600)
            close(descriptor)
            let error = await startError(TestServer.cluster(in: file + "/data"))
            #expect(error?.code == .unwritable)
            #expect(error?.message.contains(file) == true)
            await TestServer.remove(file)
        }

        @Test(
            "As root, a folder that user postgres may not pass is named, one of our own is opened just enough",
            .enabled(if: geteuid() == 0, "only root runs the server as another user")
        )
        func unreachable() async throws {
            let outer = TestServer.directory()
            unsafe mkdir(outer, 0o700)
            let error = await startError(TestServer.cluster(in: outer + "/data"))
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("chmod o+x \(outer)") == true)
            unsafe chmod(outer, 0o755)
            let cluster = TestServer.cluster(in: outer + "/data")
            try await cluster.start()
            #expect(try (FileStatus(outer + "/data")?.mode ?? 0) & 0o777 == 0o710)
            await cluster.stop()
            await TestServer.remove(outer)
        }

        @Test(
            "postmaster.pid tells the process and whether it takes connections",
            arguments: [
                ("12\n/d\n1\n5432\n/s\n\n 1 2\nready   \n", 12, true),
                ("12\n/d\n1\n5432\n/s\n\n 1 2\nstarting\n", 12, false),
                ("12\n", 12, false), ("", nil, false), ("x\n", nil, false), ("-12\n", nil, false),
            ] as [(String, Int32?, Bool)]
        )
        func pidFile(_ text: String, _ pid: Int32?, _ isReady: Bool) {
            let postmaster = Postmaster(parsing: text)
            #expect(postmaster?.pid == pid)
            #expect(postmaster?.isReady ?? false == isReady)
        }
    }
}
