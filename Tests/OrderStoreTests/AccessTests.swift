// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

extension StoreTests {
    @Suite struct AccessTests {
        @Test func `a key opens its scopes and types until it is revoked, and its secret is not stored`() async throws {
            try await withStore { fixture in
                let shop = try OrderTypeIdentifier(Samples.shop)
                let bakery = try OrderTypeIdentifier(Samples.bakery)
                let (key, secret) = try await fixture.store.createAPIKey(
                    name: "checkout",
                    scopes: [.ordersWrite],
                    orderTypes: [shop]
                )
                #expect(secret.hasPrefix("wok_\(key.identifier)_"))
                #expect(key.allows(.ordersWrite, shop))
                #expect(!key.allows(.ordersRead, shop))
                #expect(!key.allows(.ordersWrite, bakery))
                #expect(try await fixture.store.authenticate(apiKey: secret)?.identifier == key.identifier)
                #expect(try await fixture.store.authenticate(apiKey: secret)?.identifier == key.identifier)
                for wrong in [
                    "", "wok_", secret + "x", String(secret.dropLast()) + "_",
                    "wok_0000000000000000_" + secret.suffix(43),
                ] {
                    #expect(try await fixture.store.authenticate(apiKey: wrong) == nil)
                }
                let text = Statement("t_keys_text", "select k::text from api_keys k")
                let row = try #require(try await fixture.client.query(text).first).text(0)
                #expect(!row.contains(secret.suffix(43)))
                #expect(try await fixture.store.apiKeys().first?.lastUsedAt != nil)
                #expect(try await fixture.store.revokeAPIKey(key.identifier))
                let revokedAt = try #require(try await fixture.store.apiKeys().first?.revokedAt)
                // Repeated, in haste or after an answer that was lost, it is no other end than the first one.
                #expect(try await fixture.store.revokeAPIKey(key.identifier))
                #expect(try await fixture.store.revokeAPIKey("0000000000000000") == false)
                #expect(try await fixture.store.authenticate(apiKey: secret) == nil)
                #expect(try await fixture.store.apiKeys().first?.revokedAt == revokedAt)
            }
        }

        @Test func `a key opens its scopes though its use can't be noted, which is told`() async throws {
            let log = CapturedLog()
            try await withStore(logger: log.logger) { fixture in
                let (key, secret) = try await fixture.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                try await fixture.run(
                    """
                    create function t_full() returns trigger language plpgsql as $$ begin
                        raise exception 'no space left on device' using errcode = '53100'; end $$;
                    create trigger t_full before update on api_keys for each row execute function t_full()
                    """
                )
                #expect(try await fixture.store.authenticate(apiKey: secret)?.identifier == key.identifier)
                let line = try #require(log.text.split(separator: "\n").first { $0.contains("use was not noted") })
                #expect(line.contains(key.identifier) && line.contains("no space left on device"))
                // Nor does it wait for whoever holds the row.
                try await fixture.run("drop trigger t_full on api_keys")
                let other = try await fixture.store.createAPIKey(name: "l", scopes: [.admin], orderTypes: nil)
                let lock = Statement("t_lock_keys", "select 1 from api_keys for update")
                let over = Signal()
                let holder = try await fixture.hold(lock, until: over)
                let began = MonotonicTime.now()
                #expect(try await fixture.store.authenticate(apiKey: other.secret)?.identifier == other.key.identifier)
                // Otherwise the limit on locks ends the wait: a bound above that could not fail, so it has no factor.
                let limit = fixture.client.configuration.lockTimeout - .milliseconds(100)
                if Patience.factor == 1 { #expect(MonotonicTime.now() - began < limit) }
                over.fire()
                try await holder.value
            }
        }

        @Test func `a key that its last request left is free, also when the answer to that was lost`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                @Sendable func request(_ content: UInt8) -> RequestKey {
                    RequestKey(route: "POST /api/v1/events", key: "k", fingerprint: SHA256.hash([content]))
                }
                #expect(try await store.takeKey(request(2), of: type) == nil)
                // Left by a server that cut the wait for its standby short.
                try await fixture.loseCommits(of: "idempotency", on: "update or delete", all: true)
                try? await store.leaveKey(request(2), of: type)
                try await fixture.run("drop trigger t_lose on idempotency")
                #expect(try await store.takeKey(request(3), of: type) == nil)
                // Of two at work one leaves: the other still holds it.
                #expect(try await store.takeKey(request(3), of: type) == nil)
                try await store.leaveKey(request(3), of: type)
                #expect(await code { _ = try await store.takeKey(request(4), of: type) } == .keyReused)
                // A row that nobody is at work for, as an earlier version may have left it.
                try await fixture.run("update idempotency set result = '0'")
                #expect(try await store.takeKey(request(4), of: type) == nil)
                try await store.leaveKey(request(4), of: type)
                let rows = Statement("t_idempotency_rows", "select count(*) from idempotency")
                #expect(try await fixture.number(rows) == 0)
            }
        }

        @Test func `an expired key opens nothing, an admin's key everything`() async throws {
            try await withStore { fixture in
                let now = try await fixture.store.databaseTime().wallTime
                let (_, old) = try await fixture.store.createAPIKey(
                    name: "old",
                    scopes: [.ordersRead],
                    orderTypes: nil,
                    expiresAt: WallTime(seconds: now.seconds - 1)
                )
                #expect(try await fixture.store.authenticate(apiKey: old) == nil)
                let (admin, _) = try await fixture.store.createAPIKey(name: "admin", scopes: [.admin], orderTypes: nil)
                for scope in APIScope.allCases { #expect(admin.allows(scope, try OrderTypeIdentifier(Samples.shop))) }
            }
        }

        @Test func `a share link leads to its order until it is revoked or the order erased`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let store = fixture.store
                let link = try await store.createShareLink(for: created.key, lifetime: .seconds(3_600))
                #expect(link.token.utf8.count == 43)
                #expect(try await store.shareLink(token: link.token) == created.key)
                #expect(try await store.shareLink(token: "nothing") == nil)
                // A repeated request derives the same token; the database holds its digest only.
                #expect(try await store.shareLink(link.identifier, of: created.key)?.token == link.token)
                let text = Statement("t_links_text", "select l::text from share_links l")
                #expect(try await fixture.client.query(text).first?.text(0).contains(link.token) == false)
                #expect(try await store.shareLink(link.identifier, of: try Samples.key("none")) == nil)
                #expect(try await store.revokeShareLink(link.identifier, of: created.key))
                #expect(try await store.shareLink(link.identifier, of: created.key) == nil)
                #expect(try await store.revokeShareLink(link.identifier, of: created.key) == false)
                #expect(try await store.shareLink(token: link.token) == nil)
                let second = try await store.createShareLink(for: created.key, lifetime: .seconds(60))
                try await fixture.run("update share_links set expires_at = now() where share_identifier is not null")
                #expect(try await store.shareLink(token: second.token) == nil)
                let unknown = try Samples.key("none")
                #expect(
                    await code { _ = try await store.createShareLink(for: unknown, lifetime: .seconds(60)) }
                        == .orderNotFound
                )
            }
        }

        @Test func `of twins that run at once the first one's answer is kept for both`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                let request = RequestKey(route: "POST /api/v1/events", key: "k", fingerprint: SHA256.hash([1]))
                #expect(try await store.keptAnswer(request, of: type) == nil)
                let answers = try await atOnce(8) { index in
                    try await store.keepAnswer(StoredAnswer(status: 200, body: "\(index)"), for: request, of: type)
                }
                #expect(Set(answers).count == 1)
                #expect(try await store.keptAnswer(request, of: type) == answers[0])
                #expect(try await store.keptAnswer(request, of: nil) == nil)
                let other = RequestKey(route: request.route, key: "k", fingerprint: SHA256.hash([2]))
                #expect(await code { _ = try await store.keptAnswer(other, of: type) } == .keyReused)
                try await fixture.run("update idempotency set expires_at = now()")
                #expect(try await store.keptAnswer(other, of: type) == nil)
            }
        }

        @Test(arguments: ["out of time", "cancelled"])
        func `a request that is out of time, or that nobody waits for any more, gives its key back`(
            _ end: String
        ) async throws {
            try await withStore { fixture in
                let store = fixture.store
                @Sendable func request(_ body: UInt8) -> RequestKey {
                    RequestKey(route: "POST", key: "k", fingerprint: SHA256.hash([body]))
                }
                #expect(try await store.takeKey(request(1), of: nil) == nil)
                #expect(await code { _ = try await store.takeKey(request(2), of: nil) } == .keyReused)
                await fixture.loops.next().run {
                    if end == "cancelled" {
                        await withTaskGroup(of: Void.self) { group in
                            group.cancelAll()
                            group.addTask { try? await store.leaveKey(request(1), of: nil) }
                        }
                    } else {
                        try? await RequestTime.limited(to: .zero) { try await store.leaveKey(request(1), of: nil) }
                    }
                }
                // Mended, it may come again.
                try await withDeadline(Patience.long) {
                    while await code({ _ = try await store.takeKey(request(2), of: nil) }) != nil {
                        try await sleep(for: .milliseconds(5))
                    }
                }
            }
        }
    }
}
