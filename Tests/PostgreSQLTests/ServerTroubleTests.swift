// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

extension OwnClusterTests {
    /// What clients see when the server is killed, restarted, silent or no longer the primary.
    struct ServerTroubleTests {
        private func withClient(
            _ configuration: PostgresConfiguration,
            _ body: (PostgresClient) async throws -> Void
        ) async throws {
            let loops = try EventLoopGroup(count: 1, name: "trouble")
            let client = PostgresClient(configuration: configuration, loops: loops, logger: TestServer.logger)
            var failure: (any Error)?
            do { try await body(client) } catch { failure = error }
            await client.close()
            await loops.shutdown()
            if let failure { throw failure }
        }

        @Test("A session killed in the middle of a statement: the transaction runs again once the server has recovered")
        func killedSession() async throws {
            try await withCluster { cluster, _ in
                try await self.withClient(cluster.configuration) { client in
                    try await client.withConnection {
                        try await $0.script("create table things (id bigint, name text)")
                    }
                    let backends = Collector<Int64>()
                    async let work: Void = client.transaction { connection in
                        backends.add(try await connection.query(TestStatements.backend)[0].int(0))
                        _ = try await connection.query(TestStatements.insert, [.int(1), .text("one")])
                        if backends.all.count == 1 {
                            _ = try await connection.query(TestStatements.sleep, [.double(4)])
                        }
                    }
                    try await backends.wait(for: 1)
                    // The server takes a killed session for a sign of damaged memory and ends all others, too.
                    kill(Int32(backends.all[0]), SIGKILL)
                    try await work
                    #expect(backends.all.count >= 2)
                    let count = try await client.query(TestStatements.count)[0].int(0)
                    #expect(count == 1)
                }
            }
        }

        @Test("After a restart of the server the pool serves again by itself", arguments: [SIGINT, SIGQUIT])
        func restart(_ signal: Int32) async throws {
            try await withCluster { cluster, directory in
                var configuration = cluster.configuration
                configuration.acquireTimeout = Patience.long
                try await self.withClient(configuration) { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<8 {
                            group.addTask { _ = try await client.query(TestStatements.sleep, [.double(0.01)]) }
                        }
                        try await group.waitForAll()
                    }
                    if signal == SIGQUIT, let postmaster = try Postmaster.recorded(in: directory + "/pg") {
                        kill(postmaster.pid, SIGQUIT)
                    }
                    await cluster.stop()
                    await #expect(throws: (any Error).self) { try await client.ready() }
                    try await cluster.start()
                    // How long it pauses between its attempts is a matter of `PoolState`.
                    let value = try await client.query(TestStatements.echo, [.int(5)])[0].int(0)
                    #expect(value == 5)
                    try await client.ready()
                }
            }
        }

        @Test("A server that falls silent is given up: nobody waits longer than the statement's time and a little")
        func silence() async throws {
            let cluster = try await TestServer.shared()
            var configuration = cluster.configuration
            configuration.statementTimeout = .milliseconds(200)
            configuration.connectionsPerLoop = 1
            try await self.withClient(configuration) { client in
                let backend = Int32(try await client.query(TestStatements.backend)[0].int(0))
                kill(backend, SIGSTOP)
                let start = MonotonicTime.now()
                let error = await postgresError {
                    try await client.withConnection { _ = try await $0.query(TestStatements.echo, [.int(1)]) }
                }
                let waited = MonotonicTime.now() - start
                kill(backend, SIGCONT)
                #expect(error?.code == .connection)
                #expect(waited >= .milliseconds(1_200) && waited < .seconds(10) * Patience.factor)
                let next = try await client.query(TestStatements.backend)[0].int(0)
                #expect(next != Int64(backend))
            }
        }

        @Test("A COMMIT that the client gives up on leaves the outcome open")
        func silentCommit() async throws {
            let cluster = try await TestServer.shared()
            var configuration = cluster.configuration
            configuration.statementTimeout = .milliseconds(200)
            configuration.schema = "test_\(TestServer.number())"
            let schema = configuration.schema
            try await self.withClient(configuration) { client in
                try await client.withConnection {
                    try await $0.script("create schema \(schema); create table things (id bigint, name text)")
                }
                let backends = Collector<Int64>()
                let error = await postgresError {
                    try await client.transaction { connection in
                        _ = try await connection.query(TestStatements.insert, [.int(1), .text("one")])
                        backends.add(try await connection.query(TestStatements.backend)[0].int(0))
                        kill(Int32(backends.all[0]), SIGSTOP)
                    }
                }
                // The server may be about to commit, or may never: only it knows.
                for backend in backends.all { kill(Int32(backend), SIGCONT) }
                #expect(error?.code == .unknownCommit)
                #expect(backends.all.count == 1)
            }
        }

        @Test("A request's time covers all its waits: for an answer, for another connection, for another try")
        func requestTime() async throws {
            try await withCluster { cluster, directory in
                try await self.withClient(cluster.configuration) { client in
                    let backend = Int32(try await client.query(TestStatements.backend)[0].int(0))
                    let postmaster = try #require(try Postmaster.recorded(in: directory + "/pg"))
                    for pid in [postmaster.pid, backend] { kill(pid, SIGSTOP) }
                    let start = MonotonicTime.now()
                    let error = await postgresError {
                        try await RequestTime.limited(to: .milliseconds(300)) {
                            try await client.transaction { _ = try await $0.query(TestStatements.echo, [.int(1)]) }
                        }
                    }
                    let waited = MonotonicTime.now() - start
                    for pid in [postmaster.pid, backend] { kill(pid, SIGCONT) }
                    #expect(error != nil)
                    // Each by itself: 5.5 s for the answer, half a second of grace, 5 s for a connection.
                    #expect(waited >= .milliseconds(300) && waited < .seconds(4) * Patience.factor)
                    // A connection that was asked for in the request's time may take its own.
                    let next = try await client.query(TestStatements.echo, [.int(2)])[0].int(0)
                    #expect(next == 2)
                }
            }
        }

        @Test("A host that takes connections and never answers is passed over after its time")
        func silentHost() async throws {
            let directory = TestServer.directory()
            unsafe mkdir(directory, 0o700)
            let listener = try #require(listen(at: directory + "/.s.PGSQL.5432"))
            let cluster = try await TestServer.shared()
            var configuration = cluster.configuration
            configuration.hosts.insert(.init(name: directory), at: 0)
            configuration.connectTimeout = .milliseconds(200)
            try await self.withClient(configuration) { client in
                let value = try await client.query(TestStatements.echo, [.int(1)])[0].int(0)
                #expect(value == 1)
            }
            close(listener)
            await TestServer.remove(directory)
        }

        /// A Unix socket that nobody accepts from.
        private func listen(at path: String) -> Int32? {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let code = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe bind(
                    descriptor,
                    UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self),
                    socklen_t(MemoryLayout<sockaddr_un>.size)
                )
            }
            return code == 0 && Glibc.listen(descriptor, 8) == 0 ? descriptor : nil
        }

        @Test("When the primary takes no more writes, the work goes to the other host")
        func failover() async throws {
            try await withCluster { first, _ in
                try await withCluster { second, _ in
                    for cluster in [first, second] {
                        try await self.withClient(cluster.configuration) { client in
                            try await client.withConnection {
                                try await $0.script("create table things (id bigint, name text)")
                            }
                        }
                    }
                    var configuration = first.configuration
                    configuration.hosts += second.configuration.hosts
                    try await self.withClient(configuration) { client in
                        try await client.transaction {
                            _ = try await $0.query(TestStatements.insert, [.int(1), .text("one")])
                        }
                        // The first becomes what a former primary is: it answers, and refuses to write.
                        try await self.withClient(first.administration) { administrator in
                            try await administrator.withConnection { connection in
                                try await connection.script("alter system set default_transaction_read_only = on")
                                try await connection.script("select pg_reload_conf()")
                            }
                        }
                        let isReadOnly = Statement("test_read_only", "select current_setting('transaction_read_only')")
                        while try await client.query(isReadOnly)[0].text(0) == "off" {}
                        try await client.transaction {
                            _ = try await $0.query(TestStatements.insert, [.int(2), .text("two")])
                        }
                        let count = try await client.query(TestStatements.count)[0].int(0)
                        #expect(count == 1)
                    }
                    try await self.withClient(second.configuration) { client in
                        let count = try await client.query(TestStatements.count)[0].int(0)
                        #expect(count == 1)
                    }
                }
            }
        }
    }
}
