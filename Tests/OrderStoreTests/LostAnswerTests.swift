// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// What was committed and not answered for is done again, and told as it was the first time.
    @Suite struct LostAnswerTests {
        private static let commits = Statement("t_commits", "select last_value from t_commits")

        @Test func `an erasure`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                try await fixture.loseCommits(of: "orders", on: "update")
                #expect(try await fixture.store.erase(key))
                #expect(try await fixture.number(Self.commits) == 1)
                #expect(try await fixture.store.head(key)?.isErased == true)
                #expect(try await !fixture.store.erase(key))
            }
        }

        @Test func `the removal of a type's file`() async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                try await fixture.store.putTypeFile(OrderFile(name: "a.png", contents: Samples.image(1)), of: type)
                try await fixture.loseCommits(of: "type_parts", on: "delete")
                try await fixture.store.removeTypeFile("a.png", of: type)
                #expect(try await fixture.number(Self.commits) == 1)
                let again = await code { try await fixture.store.removeTypeFile("a.png", of: type) }
                #expect(again == .assetNotFound)
            }
        }

        @Test func `the removal of a type's strings`() async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                try await fixture.store.putTypeStrings(["a": "b"], locale: "de", of: type)
                try await fixture.loseCommits(of: "type_strings", on: "delete")
                try await fixture.store.removeTypeStrings(locale: "de", of: type)
                #expect(try await fixture.number(Self.commits) == 1)
                let again = await code { try await fixture.store.removeTypeStrings(locale: "de", of: type) }
                #expect(again == .localizationNotFound)
            }
        }

        @Test func `a type's file that is put where there is none, or in the place of another`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                let (first, second) = (Samples.image(1), Samples.image(2))
                try await fixture.loseCommits(of: "type_parts", on: "insert or update")
                try await store.putTypeFile(OrderFile(name: "a.png", contents: first), of: type, .absent)
                #expect(try await fixture.number(Self.commits) == 1)
                let digest = SHA256.hash(first)
                try await fixture.run("alter sequence t_commits restart")
                let file = OrderFile(name: "a.png", contents: second)
                try await store.putTypeFile(file, of: type, .present { $0 == digest })
                #expect(try await fixture.number(Self.commits) == 1)
                #expect(try await store.typeFiles(of: type).map(\.digest) == [SHA256.hash(second)])
                // Whoever asks again after a failure named what was there before: it is as asked for (RFC 9110 13.1.1).
                try await store.putTypeFile(file, of: type, .present { $0 == digest })
                let other = OrderFile(name: "a.png", contents: Samples.image(3))
                let late = await code { try await store.putTypeFile(other, of: type, .present { $0 == digest }) }
                #expect(late == .preconditionFailed)
                #expect(await code { try await store.putTypeFile(file, of: type, .absent) } == .preconditionFailed)
            }
        }

        @Test func `the removal of an order's own file and strings that the type has alike`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one", logo: "logo.png").key
                let file = OrderFile(name: "logo.png", contents: Samples.image(1))
                _ = try await store.putFile(file, of: key)
                _ = try await store.putStrings(["a": "b"], locale: "de", of: key)
                try await store.putTypeFile(file, of: key.orderType)
                try await store.putTypeStrings(["a": "b"], locale: "de", of: key.orderType)
                try await fixture.loseCommits(of: "order_parts", on: "update")
                // What the package holds stays the same, so it makes no revision that would tell.
                let answer = try await store.removeFile("logo.png", of: key)
                #expect(answer.revision == 3 && !answer.isNewRevision)
                #expect(try await fixture.number(Self.commits) == 1)
                #expect(await code { _ = try await store.removeFile("logo.png", of: key) } == .assetNotFound)
                try await fixture.run(
                    "drop trigger t_lose on order_parts; drop function t_lose; drop sequence t_commits"
                )
                try await fixture.loseCommits(of: "order_strings", on: "delete")
                #expect(try await !store.removeStrings(locale: "de", of: key).isNewRevision)
                #expect(try await fixture.number(Self.commits) == 1)
                let again = await code { _ = try await store.removeStrings(locale: "de", of: key) }
                #expect(again == .localizationNotFound)
            }
        }

        @Test func `a new key, which is one, with the secret that is told`() async throws {
            try await withStore { fixture in
                try await fixture.loseCommits(of: "api_keys", on: "insert")
                let (key, secret) = try await fixture.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                #expect(try await fixture.number(Self.commits) == 1)
                #expect(try await fixture.store.apiKeys().map(\.identifier) == [key.identifier])
                #expect(try await fixture.store.authenticate(apiKey: secret)?.identifier == key.identifier)
            }
        }

        @Test func `a new key whose every commit stays open is none: nobody has its secret`() async throws {
            try await withStore { fixture in
                try await fixture.loseCommits(of: "api_keys", on: "insert or update", all: true)
                await #expect(throws: PostgresError.unknownCommit) {
                    _ = try await fixture.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                }
                let usable = Statement("t_usable_keys", "select count(*) from api_keys where revoked_at is null")
                #expect(try await fixture.number(usable) == 0)
            }
        }

        @Test func `a new key that can't be read back is none either, or the operator is told of it`() async throws {
            let log = CapturedLog()
            try await withStore(logger: log.logger) { fixture in
                try await fixture.run(
                    """
                    create function t_spoil() returns trigger language plpgsql as $$ begin
                        new.order_types := '{no type}'; return new; end $$;
                    create trigger t_spoil before insert on api_keys for each row execute function t_spoil();
                    create function t_full() returns trigger language plpgsql as $$ begin
                        raise exception 'no space left on device' using errcode = '53100'; end $$
                    """
                )
                let store = fixture.store
                @Sendable func make() async -> StoreError.Code? {
                    await code { _ = try await store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil) }
                }
                #expect(await make() == .corrupt)
                let usable = Statement(
                    "t_usable_identifiers",
                    "select key_identifier from api_keys where revoked_at is null"
                )
                #expect(try await fixture.client.query(usable).isEmpty)
                #expect(!log.text.contains("secret nobody has"))
                try await fixture.run(
                    "create trigger t_full before update on api_keys for each row execute function t_full()"
                )
                #expect(await make() == .corrupt)
                let left = try #require(try await fixture.client.query(usable).first).text(0)
                let line = try #require(log.text.split(separator: "\n").first { $0.contains("secret nobody has") })
                #expect(line.contains(left) && line.contains("\"error\""))
            }
        }

        @Test func `the end of a key`() async throws {
            try await withStore { fixture in
                let (key, _) = try await fixture.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                try await fixture.loseCommits(of: "api_keys", on: "update")
                #expect(try await fixture.store.revokeAPIKey(key.identifier))
                // A revoked key is what was asked for, also by whoever asks again; an unknown one may be a slip.
                #expect(try await fixture.store.revokeAPIKey(key.identifier))
                #expect(try await !fixture.store.revokeAPIKey("0000000000000000"))
            }
        }

        @Test func `the end of a share link`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                let link = try await fixture.store.createShareLink(for: key, lifetime: .seconds(3_600))
                try await fixture.loseCommits(of: "share_links", on: "update")
                #expect(try await fixture.store.revokeShareLink(link.identifier, of: key))
                #expect(try await !fixture.store.revokeShareLink(link.identifier, of: key))
            }
        }

        @Test func `a change under If-Match`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let options = ChangeOptions(ifMatch: .entityTags([try #require(try await store.head(key)).entityTag]))
                try await fixture.loseCommits(of: "orders", on: "update")
                let answer = try await store.patch(key, with: ["statusDescription": "new"], options)
                #expect(answer.revision == 2)
                #expect(try await fixture.number(Self.commits) == 1)
                // An event that was taken is known, whatever became of the order since.
                let head = try #require(try await store.head(key))
                let event = try Samples.event("e")
                let now = ChangeOptions(ifMatch: .entityTags([head.entityTag]))
                #expect(try await store.apply(event, to: key, now).revision == 3)
                let again = try await store.apply(event, to: key, now)
                #expect(again.duplicate && again.revision == 3)
                let other = await code { _ = try await store.apply(try Samples.event("f"), to: key, now) }
                #expect(other == .preconditionFailed)
            }
        }

        @Test func `a change under If-Match, with another one since`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let options = ChangeOptions(ifMatch: .entityTags([try #require(try await store.head(key)).entityTag]))
                var work = OrderWork(key: key)
                work.edits = [
                    OrderWork.Edit(
                        index: 0,
                        identifier: try EventIdentifier("edit 1"),
                        change: .patch(["statusDescription": "new"])
                    )
                ]
                let works = [work]
                let attempts = Locked<[OrderKey: ChangeRun.Attempt]>([:])
                var made: SHA256Digest?
                for _ in 1...2 {
                    let outcomes = try await store.transaction { connection in
                        var run = ChangeRun(
                            orderType: key.orderType,
                            options: options,
                            connection: connection,
                            attempts: attempts
                        )
                        return try await run.outcomes(works)
                    }
                    guard case .change(let answer) = try #require(outcomes[0]).get() else { throw Unexpected() }
                    #expect(answer.revision == 2)
                    // The tag is that revision's: with the present one, whoever has it would overwrite what came since.
                    if made == nil { made = try await store.head(key)?.digest }
                    #expect(answer.digest == made)
                    _ = try await store.apply(try Samples.event("e"), to: key)
                }
            }
        }

        @Test func `a repeated create whose token can't be made is not told as one of an erased order`() async throws {
            try await withStore { fixture in
                let request = CreateOrderTests.request("k", "f")
                let new = NewOrder(document: try Samples.document("one"), idempotency: request)
                guard case .created = try await fixture.store.create(new) else { throw Unexpected() }
                let other = OrderStore(
                    client: fixture.client,
                    tokens: try TokenKeys(keys: [2: SecureRandom.bytes(32)]),
                    logger: TestLog.logger
                )
                #expect(await code { _ = try await other.create(new) } == .unknownTokenKey)
            }
        }
    }
}
