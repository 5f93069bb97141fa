// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct CreateOrderTests {
        static let countOrders = Statement("t_count_orders", "select count(*) from orders")
        static let countAnswers = Statement("t_count_answers", "select count(*) from idempotency")
        static let readResult = Statement("t_read_result", "select result from idempotency")

        static func request(_ key: String, _ content: String = "a") -> IdempotentRequest {
            IdempotentRequest(
                route: "POST /api/v1/orders",
                key: key,
                fingerprint: SHA256.hash(Array(content.utf8))
            ) { StoredAnswer(status: 201, body: "{\"revision\":\($0.revision)}") }
        }

        @Test func `a new order is stored whole and reads back as sent`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                #expect(created.revision == 1)
                #expect(created.updatedAt.rfc3339 == "2026-01-02T03:04:05Z")
                #expect(created.missingFiles.isEmpty)
                let key = try Samples.key("one")
                let package = try #require(try await fixture.store.package(key))
                #expect(package.head.digest == created.digest)
                #expect(package.head.modifiedAt == created.updatedAt)
                #expect(package.head.orderNumber == "N-one")
                #expect(package.head.fulfillmentStatuses == ["open"])
                #expect(package.document.json["payment"]?["total"]?["amount"]?.numberValue?.text == "28.80")
                #expect(try fixture.store.authenticationToken(for: package.head) == created.authenticationToken)
                try await fixture.expectInvariants()
            }
        }

        @Test func `the identifier of another order is a conflict that names it`() async throws {
            try await withStore { fixture in
                try await fixture.create("one")
                let error = await #expect(throws: StoreError.self) { try await fixture.create("one") }
                #expect(error?.code == .orderExists)
                #expect(error?.order == (try Samples.key("one")))
                _ = try await fixture.create("one", type: Samples.bakery)
                #expect(try await fixture.number(Self.countOrders) == 2)
            }
        }

        @Test func `an identifier that differs in its bytes alone is another order`() async throws {
            try await withStore { fixture in
                try await fixture.create("caf\u{E9}")
                try await fixture.create("cafe\u{301}")
                #expect(try await fixture.number(Self.countOrders) == 2)
            }
        }

        @Test func `createdAt more than ten minutes ahead is refused and nothing stays`() async throws {
            try await withStore { fixture in
                let now = try await fixture.store.databaseTime()
                func create(_ order: String, ahead seconds: Int64) async throws {
                    let created = WallTime(seconds: now.wallTime.seconds + seconds).rfc3339
                    _ = try await fixture.store.create(
                        NewOrder(
                            document: try Samples.document(order, created: created),
                            idempotency: Self.request("key-\(order)")
                        )
                    )
                }
                #expect(await code { try await create("late", ahead: 660) } == .invalidDocument)
                #expect(try await fixture.number(Self.countOrders) == 0)
                #expect(try await fixture.number(Self.countAnswers) == 0)
                try await create("soon", ahead: 540)
            }
        }

        @Test func `a repeated request gets the kept answer, which holds no token`() async throws {
            try await withStore { fixture in
                let new = NewOrder(document: try Samples.document("one"), idempotency: Self.request("key"))
                guard case .created(let created) = try await fixture.store.create(new) else { throw Unexpected() }
                guard case .replayed(let answer, let key, let token) = try await fixture.store.create(new) else {
                    throw Unexpected()
                }
                #expect(answer == StoredAnswer(status: 201, body: "{\"revision\":1}"))
                #expect(key == created.key)
                #expect(token == created.authenticationToken)
                let stored = try #require(try await fixture.client.query(Self.readResult).first).text(0)
                #expect(!stored.contains(created.authenticationToken))
                _ = try await fixture.store.erase(created.key)
                guard case .replayed(_, _, let gone) = try await fixture.store.create(new) else { throw Unexpected() }
                #expect(gone == nil)
            }
        }

        @Test func `the same key with another request is refused`() async throws {
            try await withStore { fixture in
                _ = try await fixture.store.create(
                    NewOrder(document: try Samples.document("one"), idempotency: Self.request("key"))
                )
                let other = NewOrder(document: try Samples.document("two"), idempotency: Self.request("key", "b"))
                #expect(await code { _ = try await fixture.store.create(other) } == .keyReused)
                #expect(try await fixture.number(Self.countOrders) == 1)
            }
        }

        @Test func `a kept answer past its time makes way for a new one`() async throws {
            try await withStore { fixture in
                _ = try await fixture.store.create(
                    NewOrder(document: try Samples.document("one"), idempotency: Self.request("key"))
                )
                try await fixture.run("update idempotency set expires_at = now() - interval '1 second'")
                let outcome = try await fixture.store.create(
                    NewOrder(document: try Samples.document("two"), idempotency: Self.request("key", "b"))
                )
                guard case .created = outcome else { throw Unexpected() }
            }
        }

        @Test func `sixty-four twins with one key make one order and equal answers`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let outcomes = try await atOnce(64) { index in
                    // The server makes identifiers when the caller sends none: every twin comes with its own.
                    let new = NewOrder(
                        document: try Samples.document("twin-\(index)"),
                        idempotency: Self.request("key")
                    )
                    return try await fixture.store.create(new)
                }
                var tokens: Set<String> = []
                var made = 0
                for outcome in outcomes {
                    switch outcome {
                    case .created(let created):
                        made += 1
                        tokens.insert(created.authenticationToken)
                    case .replayed(let answer, _, let token):
                        #expect(answer.body == "{\"revision\":1}")
                        tokens.insert(token ?? "none")
                    }
                }
                #expect(made == 1)
                #expect(tokens.count == 1)
                #expect(try await fixture.number(Self.countOrders) == 1)
                try await fixture.expectInvariants()
            }
        }

        @Test func `a twin that runs for long is told to come again`() async throws {
            try await withStore { fixture in
                try await fixture.store.ensureOrderType(try OrderTypeIdentifier(Samples.shop))
                let insert = Statement(
                    "t_hold_key",
                    """
                    insert into idempotency (order_type, route, key, fingerprint, order_identifier, status, result,
                        expires_at)
                    values ('order.com.example.shop', 'POST /api/v1/orders', 'key', '\\x00', 'x', 201, '',
                        now() + interval '1 hour')
                    """
                )
                try await fixture.client.withConnection { connection in
                    try await connection.script("begin")
                    _ = try await connection.query(insert)
                    let new = NewOrder(document: try Samples.document("one"), idempotency: Self.request("key"))
                    #expect(await code { _ = try await fixture.store.create(new) } == .stillRunning)
                    try await connection.script("rollback")
                }
            }
        }

        @Test func `validateCreate answers the same and stores nothing`() async throws {
            try await withStore { fixture in
                let new = NewOrder(document: try Samples.document("one", logo: "logo.png"))
                let answer = try await fixture.store.validateCreate(new)
                #expect(answer.missingFiles == ["logo.png"])
                #expect(try await fixture.number(Self.countOrders) == 0)
                guard case .created(let created) = try await fixture.store.create(new) else { throw Unexpected() }
                #expect(created.digest == answer.digest)
                #expect(await code { _ = try await fixture.store.validateCreate(new) } == .orderExists)
            }
        }

        @Test func `an erased identifier can not be used again`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                #expect(try await fixture.store.erase(created.key))
                #expect(try await fixture.store.erase(created.key) == false)
                let again = await #expect(throws: StoreError.self) { try await fixture.create("one") }
                #expect(again?.code == .orderExists && again?.order == nil && again?.message.contains("PATCH") == false)
                let new = NewOrder(document: try Samples.document("one"))
                let tried = await #expect(throws: StoreError.self) { try await fixture.store.validateCreate(new) }
                #expect(tried?.code == .orderExists && tried?.order == nil && tried?.message == again?.message)
                #expect(try await fixture.store.head(created.key)?.isErased == true)
                #expect(try await fixture.store.package(created.key) == nil)
                #expect(
                    try await fixture.store.authorize(created.key, token: created.authenticationToken) == nil
                )
                #expect(
                    try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                        == .orderUnknown
                )
                #expect(
                    try await fixture.number(Statement("t_devices", "select count(*) from devices")) == 0
                )
                try await fixture.expectInvariants()
            }
        }

        @Test func `a repeated create does not bring the files of an erased order back`() async throws {
            try await withStore { fixture in
                let assets = Statement("t_assets", "select count(*) from assets")
                // Whoever leaves the identifier out gets another one each time.
                for (round, name) in ["one", "two"].enumerated() {
                    var new = NewOrder(
                        document: try Samples.document(name, logo: "logo.png"),
                        idempotency: Self.request("k")
                    )
                    new.files = [OrderFile(name: "logo.png", contents: Samples.image(1))]
                    switch try await fixture.store.create(new) {
                    case .created(let created):
                        #expect(round == 0)
                        #expect(try await fixture.number(assets) == 1)
                        #expect(try await fixture.store.erase(created.key))
                    case .replayed(_, let key, let token):
                        #expect(round == 1 && key.order.text == "one" && token == nil)
                    }
                    #expect(try await fixture.number(assets) == 0)
                }
                // Under a key that was used for something else it is refused, and nothing stays either.
                var other = NewOrder(
                    document: try Samples.document("three", logo: "logo.png"),
                    idempotency: Self.request("k", "b")
                )
                other.files = [OrderFile(name: "logo.png", contents: Samples.image(1))]
                let new = other
                #expect(await code { _ = try await fixture.store.create(new) } == .keyReused)
                #expect(try await fixture.number(assets) == 0)
            }
        }
    }
}
