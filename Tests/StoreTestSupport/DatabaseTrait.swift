// SPDX-License-Identifier: Apache-2.0

import Cryptography
import PostgreSQL
import ServiceRuntime
package import Testing

/// Keeps a private PostgreSQL running while a suite needs it: one server a process, whichever suites share it.
package struct DatabaseTrait: SuiteTrait, TestScoping {
    @concurrent package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await TestCluster.shared.enter()
        do {
            try await function()
        } catch {
            try await TestCluster.shared.leave()
            throw error
        }
        try await TestCluster.shared.leave()
    }
}

extension Trait where Self == DatabaseTrait {
    /// Tests of this suite may call ``withStore(connectionsPerLoop:tokens:_:)``.
    package static var database: Self { Self() }
}

/// The server of all suites: started by the first that comes, stopped by the last that goes.
actor TestCluster {
    static let shared = TestCluster()

    private var users = 0
    private var running: (cluster: PrivateCluster, directory: String)?
    private var isChanging = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The server, for a test inside a suite that keeps it running.
    var cluster: PrivateCluster? { running?.cluster }

    func enter() async throws {
        users += 1
        await begin()
        defer { end() }
        if running != nil { return }
        let directory = "/tmp/walletorders-store-\(Hex.encode(SecureRandom.bytes(4)))"
        try Files.createDirectory(directory, mode: 0o755)
        let cluster = PrivateCluster(
            directory: directory,
            logger: TestLog.logger,
            settings: ["max_connections": "400"],
            isDurable: false
        )
        try await cluster.start()
        running = (cluster, directory)
    }

    func leave() async throws {
        users -= 1
        await begin()
        defer { end() }
        guard users == 0, let (cluster, directory) = running else { return }
        running = nil
        await cluster.stop()
        try Files.removeTree(directory)
    }

    /// One start or stop at a time: an actor lets others in while it waits.
    private func begin() async {
        while isChanging { await withCheckedContinuation { waiting.append($0) } }
        isChanging = true
    }

    private func end() {
        isChanging = false
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }
}
