// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Bulk requests that fail in part")
    struct PartialFailureTests {
        private static func events(_ orders: [String]) -> JSONValue {
            let events = orders.map { order in
                Merchant.event("e-\(order)").mergePatched(with: [
                    "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": .string(order),
                ])
            }
            return ["events": .array(events)]
        }

        @Test("a failure that passes is not kept: the same request under the same key gets the event in")
        func busy() async throws {
            try await withMerchant { merchant in
                await merchant.create("L1")
                await merchant.create("L2")
                let key: HTTPFields = ["idempotency-key": "partial"]
                let body = Self.events(["L1", "L2"])
                let first = try await merchant.shop.database.client.withConnection { connection in
                    try await connection.script(
                        "begin; select 1 from orders where order_identifier = 'L2' for update"
                    )
                    let answer = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                    try await connection.script("rollback")
                    return answer
                }
                #expect(first.status == .ok, "\(first.text)")
                #expect(first.json["results"]?[0]?["applied"] == true, "\(first.text)")
                #expect(first.json["results"]?[1]?["problem"]?["code"] == "busy", "\(first.text)")
                let second = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(second.headers["idempotent-replayed"] == nil)
                #expect(second.json["results"]?[0]?["duplicate"] == true)
                #expect(second.json["results"]?[1]?["applied"] == true, "\(second.text)")
                // What went well as a whole is kept.
                let third = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(third.headers["idempotent-replayed"] == "true")
                #expect(third.json == second.json)
            }
        }

        @Test("an order whose dates ran ahead, and a fault of the service, leave the key free, too")
        func other() async throws {
            try await withMerchant { merchant in
                await merchant.create("L1")
                await merchant.create("L2")
                let run = merchant.shop.database.run
                try await run(
                    "update orders set modified_at = now() + interval '2 hours' where order_identifier = 'L2'"
                )
                let key: HTTPFields = ["idempotency-key": "k"]
                let body = Self.events(["L1", "L2"])
                let ahead = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(ahead.json["results"]?[1]?["problem"]?["code"] == "order-ahead-of-clock", "\(ahead.text)")
                try await run("update orders set modified_at = now() where order_identifier = 'L2'")
                let back = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(back.json["results"]?[1]?["applied"] == true, "\(back.text)")

                let next: HTTPFields = ["idempotency-key": "n"]
                let more: JSONValue = [
                    "events": [
                        Merchant.event("n", status: "delivered").mergePatched(with: [
                            "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "L1",
                        ])
                    ]
                ]
                try await run("alter table order_documents rename to gone")
                let broken = await merchant.client.send(.post, "/api/v1/events", next, json: more)
                #expect(broken.json["results"]?[0]?["problem"]?["code"] == "internal-error", "\(broken.text)")
                try await run("alter table gone rename to order_documents")
                let whole = await merchant.client.send(.post, "/api/v1/events", next, json: more)
                #expect(whole.json["results"]?[0]?["applied"] == true, "\(whole.text)")
            }
        }

        @Test("a key that can't be given back stays taken, which is told")
        func leftTaken() async throws {
            try await withMerchant { merchant in
                try await merchant.shop.database.run(
                    """
                    create function t_full() returns trigger language plpgsql as $$ begin
                        raise exception 'no space left on device' using errcode = '53100'; end $$;
                    create trigger t_full before update on idempotency for each row execute function t_full();
                    alter table order_documents rename to gone
                    """
                )
                func told() -> Int {
                    merchant.shop.log.text.split(separator: "an Idempotency-Key stays taken").count - 1
                }
                let bulk: HTTPFields = ["idempotency-key": "bulk"]
                let body = Self.events(["L1"])
                // One answers for itself, the other throws.
                let first = await merchant.client.send(.post, "/api/v1/events", bulk, json: body)
                #expect(first.json["results"]?[0]?["problem"]?["code"] == "internal-error", "\(first.text)")
                #expect(told() == 1)
                let single: HTTPFields = ["idempotency-key": "single"]
                let path = Merchant.path("L1", "/events")
                let second = await merchant.client.send(.post, path, single, json: Merchant.event("e"))
                #expect(second.code == "internal-error", "\(second.text)")
                #expect(told() == 2)
            }
        }

        @Test("a failure that stays is kept with the rest")
        func final() async throws {
            try await withMerchant { merchant in
                await merchant.create("L1")
                let key: HTTPFields = ["idempotency-key": "k"]
                let body = Self.events(["L1", "none"])
                let first = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(first.json["results"]?[1]?["problem"]?["code"] == "order-not-found")
                await merchant.create("none")
                let second = await merchant.client.send(.post, "/api/v1/events", key, json: body)
                #expect(second.headers["idempotent-replayed"] == "true")
                #expect(second.json == first.json)
            }
        }
    }
}
