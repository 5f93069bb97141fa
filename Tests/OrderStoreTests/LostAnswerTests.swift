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
        /// Leaves open what became of the next commit that changes a row of a table: a warning at COMMIT is what a server
        /// gives that stops waiting for its standby.
        private static func loseNextCommit(of table: String, _ operation: String, _ fixture: StoreFixture) async throws
        {
            try await fixture.run(
                """
                create sequence t_commits;
                create function t_lose() returns trigger language plpgsql as $$ begin
                    if nextval('t_commits') = 1 then raise warning 'canceling wait for synchronous replication'; end if;
                    return null; end $$;
                create constraint trigger t_lose after \(operation) on \(table) deferrable initially deferred
                    for each row execute function t_lose()
                """
            )
        }

        private static let commits = Statement("t_commits", "select last_value from t_commits")

        @Test func `an erasure`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                try await Self.loseNextCommit(of: "orders", "update", fixture)
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
                try await Self.loseNextCommit(of: "type_parts", "delete", fixture)
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
                try await Self.loseNextCommit(of: "type_strings", "delete", fixture)
                try await fixture.store.removeTypeStrings(locale: "de", of: type)
                #expect(try await fixture.number(Self.commits) == 1)
                let again = await code { try await fixture.store.removeTypeStrings(locale: "de", of: type) }
                #expect(again == .localizationNotFound)
            }
        }

        @Test func `the end of a key`() async throws {
            try await withStore { fixture in
                let (key, _) = try await fixture.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                try await Self.loseNextCommit(of: "api_keys", "update", fixture)
                #expect(try await fixture.store.revokeAPIKey(key.identifier))
                #expect(try await !fixture.store.revokeAPIKey(key.identifier))
            }
        }

        @Test func `the end of a share link`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                let link = try await fixture.store.createShareLink(for: key, lifetime: .seconds(3_600))
                try await Self.loseNextCommit(of: "share_links", "update", fixture)
                #expect(try await fixture.store.revokeShareLink(link.identifier, of: key))
                #expect(try await !fixture.store.revokeShareLink(link.identifier, of: key))
            }
        }

        @Test func `a change under If-Match`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let options = ChangeOptions(ifMatch: .entityTags([try #require(try await store.head(key)).entityTag]))
                try await Self.loseNextCommit(of: "orders", "update", fixture)
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
                for _ in 1...2 {
                    let outcomes = try await store.transaction { connection in
                        var run = ChangeRun(orderType: key.orderType, options: options, connection: connection)
                        return try await run.outcomes(works)
                    }
                    guard case .change(let answer) = try #require(outcomes[0]).get() else { throw Unexpected() }
                    #expect(answer.revision == 2)
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
