// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import Synchronization
import TestPatience
import Testing

@testable import PostgreSQL

/// The real server that the tests share: one cluster a run, made when the first test asks for it.
///
/// Nobody stops it: the kernel tells it to shut down when the test process ends, which is what a killed program relies on.
enum TestServer {
    private static let state = Locked<Result<PrivateCluster, PrivateClusterError>?>(nil)
    private static let isClaimed = Atomic<Bool>(false)
    private static let started = Signal()
    private static let count = Atomic<Int>(0)

    static let logger = Logger(label: "test", sink: LogSink(form: .text, level: .error) { _ in })

    /// A number that no other test of this run has.
    static func number() -> Int { self.count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The path of a new directory; short, since a socket's path is.
    static func directory() -> String { "/tmp/wopg.\(getpid()).\(self.number())" }

    /// The shared cluster.
    static func shared() async throws -> PrivateCluster {
        if self.isClaimed.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged {
            await self.removeLeftovers()
            let cluster = self.cluster(in: self.directory())
            do throws(PrivateClusterError) {
                try await cluster.start()
                self.state.withLock { $0 = .success(cluster) }
            } catch {
                self.state.withLock { $0 = .failure(error) }
            }
            self.started.fire()
        }
        try await self.started.wait()
        guard let result = self.state.withLock({ $0 }) else { throw PrivateClusterError(.failed, "no cluster") }
        return try result.get()
    }

    /// A cluster of a test's own, fast and careless.
    static func cluster(in directory: String) -> PrivateCluster {
        PrivateCluster(
            directory: directory,
            logger: self.logger,
            settings: ["max_connections": "400", "shared_buffers": "32MB", "deadlock_timeout": "50ms"],
            isDurable: false
        )
    }

    /// Removes what former runs left whose process is gone.
    private static func removeLeftovers() async {
        for name in (try? Folder.names(in: "/tmp")) ?? [] where name.hasPrefix("wopg.") {
            let parts = name.split(separator: ".")
            guard parts.count == 3, let pid = Int32(parts[1]), kill(pid, 0) != 0 else { continue }
            await self.remove("/tmp/\(name)")
        }
    }

    /// Removes a directory and what is in it.
    static func remove(_ path: String) async {
        _ = try? await ChildProcess.run("/bin/rm", ["-rf", "--", path])
    }
}

/// Runs a test with a client whose sessions see a new, empty schema.
func withClient<R: Sendable>(
    loops count: Int = 1,
    _ change: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> R
) async throws -> R {
    let cluster = try await TestServer.shared()
    var configuration = cluster.configuration
    configuration.schema = "test_\(TestServer.number())"
    change(&configuration)
    let loops = try EventLoopGroup(count: count, name: "test")
    let client = PostgresClient(configuration: configuration, loops: loops, logger: TestServer.logger)
    let schema = configuration.schema
    let result: Result<R, any Error>
    do {
        try await client.withConnection { try await $0.script("create schema if not exists \(schema)") }
        result = .success(try await body(client))
    } catch {
        result = .failure(error)
    }
    await client.close()
    await loops.shutdown()
    return try result.get()
}

/// Runs a test with a cluster of its own.
func withCluster<R: Sendable>(_ body: (PrivateCluster, String) async throws -> R) async throws -> R {
    let directory = TestServer.directory()
    let cluster = TestServer.cluster(in: directory)
    let result: Result<R, any Error>
    do {
        try await cluster.start()
        result = .success(try await body(cluster, directory))
    } catch {
        result = .failure(error)
    }
    await cluster.stop()
    await TestServer.remove(directory)
    return try result.get()
}

/// Statements that several tests use.
enum TestStatements {
    static let backend = Statement("test_backend", "select pg_backend_pid()")
    static let sleep = Statement("test_sleep", "select pg_sleep($1)")
    static let terminateSelf = Statement("test_terminate_self", "select pg_terminate_backend(pg_backend_pid())")
    static let terminate = Statement("test_terminate", "select pg_terminate_backend($1)")
    static let echo = Statement("test_echo", "select $1::bigint")
    static let insert = Statement("test_insert", "insert into things (id, name) values ($1, $2)")
    static let count = Statement("test_count", "select count(*) from things")
    static let notify = Statement("test_notify", "select pg_notify($1, $2)")
    static let state = Statement("test_state", "select state from pg_stat_activity where pid = $1")
}

/// The error that a call is expected to throw.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

/// A list that closures on any thread add to, and an event for when it is long enough.
final class Collector<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])
    private let waiting = Locked<[(Int, Signal)]>([])

    var all: [Element] { self.elements.withLock { $0 } }

    func add(_ element: Element) {
        let count = self.elements.withLock { elements -> Int in
            elements.append(element)
            return elements.count
        }
        for (least, signal) in self.waiting.withLock({ $0 }) where count >= least { signal.fire() }
    }

    /// Waits until there are `least`.
    func wait(for least: Int) async throws {
        let signal = Signal()
        self.waiting.withLock { $0.append((least, signal)) }
        if self.all.count >= least { return }
        try await withDeadline(Patience.long) { try await signal.wait() }
    }
}
