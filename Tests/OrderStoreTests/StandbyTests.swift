// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

@testable import OrderStore

extension StoreTests {
    /// Acknowledged means on the standby too: also to whoever asks again for what is there already, on one machine only.
    @Suite struct StandbyTests {
        private static let probe = Statement("t_standby_probe", "insert into t_probe values (1)")
        private static let countWaits = Statement(
            "t_count_waits",
            "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
        )

        /// A primary of its own, since whether commits wait for a standby is a setting of the whole server.
        private static func withPrimary(_ body: (StoreFixture) async throws -> Void) async throws {
            try await withCluster(["synchronous_commit": "on"]) { cluster in
                let loops = try EventLoopGroup(count: 1, name: "standby")
                var configuration = cluster.administration
                configuration.connectionsPerLoop = 24
                var failure: (any Error)?
                do {
                    let fixture = try await StoreFixture.open(configuration, loops: loops)
                    do {
                        try await fixture.run("create table t_probe (x bigint)")
                        try await body(fixture)
                    } catch {
                        failure = error
                    }
                    await fixture.client.close()
                } catch {
                    failure = error
                }
                await loops.shutdown()
                if let failure { throw failure }
            }
        }

        /// Names the standby that commits wait for from then on; nil: none.
        private static func wait(for standby: String?, _ fixture: StoreFixture) async throws {
            try await fixture.client.withConnection { connection in
                try await connection.script("alter system set synchronous_standby_names = '\(standby ?? "")'")
                try await connection.script("select pg_reload_conf()")
            }
            try await withDeadline(Patience.long) {
                while try await Self.isWaiting(fixture) != (standby != nil) {}
            }
        }

        /// Whether a commit waits in vain; nil when that can't be told.
        private static func isWaiting(_ fixture: StoreFixture) async throws -> Bool? {
            do {
                try await OrderStore.answering(within: .milliseconds(200)) {
                    _ = try await fixture.client.query(Self.probe)
                }
                return false
            } catch let error as PostgresError where OrderStore.isUnavailable(error) {
                return error.code == .unknownCommit ? true : nil
            }
        }

        /// What is asked for twice, each with an order, a file or a key of its own.
        private static func requests(
            _ fixture: StoreFixture
        ) async throws -> [(name: String, ask: @Sendable () async throws -> Void)] {
            let store = fixture.store
            let type = try OrderTypeIdentifier(Samples.shop)
            var keys: [OrderKey] = []
            for name in ["link", "device", "event", "patch", "file", "erase"] {
                keys.append(try await fixture.create(name).key)
            }
            let (link, device, event, patch, file, erase) = (keys[0], keys[1], keys[2], keys[3], keys[4], keys[5])
            let shared = try await store.createShareLink(for: link, lifetime: .seconds(3_600))
            let phone = try Samples.device("phone")
            _ = try await store.register(phone, pushToken: try Samples.token(1), for: device)
            _ = try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(1)), of: file)
            try await store.putTypeFile(OrderFile(name: "b.png", contents: Samples.image(2)), of: type)
            try await store.putTypeStrings(["a": "b"], locale: "de", of: type)
            let access = try await store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil).key
            let kept = RequestKey(route: "POST /api/v1/events", key: "k", fingerprint: SHA256.hash([1]))
            let answer = StoredAnswer(status: 200, body: "{}")
            return [
                (
                    "create with a key",
                    {
                        let request = CreateOrderTests.request("new", "new")
                        let new = NewOrder(document: try Samples.document("new"), idempotency: request)
                        _ = try await store.create(new)
                    }
                ),
                ("create", { _ = try await store.create(NewOrder(document: try Samples.document("plain"))) }),
                ("share link", { _ = try await store.revokeShareLink(shared.identifier, of: link) }),
                ("key", { _ = try await store.revokeAPIKey(access.identifier) }),
                ("type's file", { try await store.removeTypeFile("b.png", of: type) }),
                ("type's strings", { try await store.removeTypeStrings(locale: "de", of: type) }),
                ("device", { try await store.unregister(phone, from: device) }),
                (
                    "kept answer",
                    {
                        if try await store.takeKey(kept, of: type) != nil { return }
                        _ = try await store.keepAnswer(answer, for: kept, of: type)
                    }
                ),
                ("event", { _ = try await store.apply(try Samples.event("e"), to: event) }),
                ("patch", { _ = try await store.patch(patch, with: ["statusDescription": "new"]) }),
                ("order's file", { _ = try await store.removeFile("a.png", of: file) }),
                ("erasure", { _ = try await store.erase(erase) }),
            ]
        }

        @Test func `nothing is acknowledged that the standby does not have, the second time no more than the first`()
            async throws
        {
            try await Self.withPrimary { fixture in
                let requests = try await Self.requests(fixture)
                try await Self.wait(for: "away", fixture)
                for time in 1...2 {
                    _ = try await atOnce(requests.count) { index in
                        let (name, ask) = requests[index]
                        do {
                            try await OrderStore.answering(within: .milliseconds(1_700)) { try await ask() }
                            Issue.record("\(name): acknowledged, time \(time)")
                        } catch {
                            #expect(OrderStore.isUnavailable(error), "\(name), time \(time): \(error)")
                        }
                    }
                    // What was given up here waits no more in the server either, where it would keep its locks, and a
                    // session that others need: it is committed, on this machine alone.
                    try await withDeadline(Patience.long) {
                        while try await fixture.number(Self.countWaits) > 0 { try await sleep(for: .milliseconds(20)) }
                    }
                }
                try await Self.wait(for: nil, fixture)
                for (name, ask) in requests {
                    do { try await ask() } catch {
                        // What is gone by now can't be taken away again.
                        let codes: [StoreError.Code] = [.assetNotFound, .localizationNotFound, .orderExists]
                        #expect((error as? StoreError).map { codes.contains($0.code) } == true, "\(name): \(error)")
                    }
                }
            }
        }
    }
}
