// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
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
                #expect(try await fixture.store.revokeAPIKey(key.identifier) == false)
                #expect(try await fixture.store.authenticate(apiKey: secret) == nil)
                #expect(try await fixture.store.apiKeys().first?.revokedAt != nil)
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
    }
}
