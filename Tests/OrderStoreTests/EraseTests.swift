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
    /// What an erasure leaves behind: nothing that is anybody's.
    @Suite struct EraseTests {
        private static let assets = Statement("t_assets", "select count(*) from assets")
        private static let answers = Statement("t_answers", "select string_agg(result, '') from idempotency")

        private static func order(_ name: String, _ images: [UInt8], key: String? = nil) throws -> NewOrder {
            NewOrder(
                document: try Samples.document(name),
                files: images.map { OrderFile(name: "receipt-\($0).png", contents: Samples.image($0)) },
                idempotency: key.map { key in
                    IdempotentRequest(route: "POST", key: key, fingerprint: SHA256.hash([1])) { _ in
                        StoredAnswer(status: 201, body: #"{"file":"Ada Lovelace.png"}"#)
                    }
                }
            )
        }

        @Test func `an erased order takes its files along, and what its creation was answered`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let new = try Self.order("one", [1, 2], key: "k")
                guard case .created(let one) = try await store.create(new) else { throw Unexpected() }
                guard case .created(let two) = try await store.create(try Self.order("two", [2, 3], key: "l")) else {
                    throw Unexpected()
                }
                try await store.putTypeFile(
                    OrderFile(name: "logo.png", contents: Samples.image(4)),
                    of: one.key.orderType
                )
                _ = try await store.putFile(OrderFile(name: "logo.png", contents: Samples.image(4)), of: one.key)
                #expect(try await fixture.number(Self.assets) == 4)
                #expect(try await store.erase(one.key))
                // The second's, which the first had too, and the type's.
                #expect(try await fixture.number(Self.assets) == 3)
                #expect(try await store.orderFile("receipt-2.png", of: two.key)?.contents == Samples.image(2))
                let kept = try await fixture.client.query(Self.answers).first?.text(0) ?? ""
                #expect(kept.occurrences(of: "Ada") == 1)
                guard case .replayed(let answer, _, let token) = try await store.create(new) else { throw Unexpected() }
                #expect(answer.body == "{}" && token == nil)
                #expect(try await store.erase(two.key))
                #expect(try await fixture.number(Self.assets) == 1)
                try await fixture.expectInvariants()
            }
        }

        @Test func `answers to requests about an erased order lose their contents, whenever they are kept`()
            async throws
        {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                func request(_ name: String) -> RequestKey {
                    RequestKey(route: "POST", key: name, fingerprint: SHA256.hash([1]), order: key.order)
                }
                let answer = StoredAnswer(status: 200, body: #"{"carrier":"Ada Lovelace"}"#)
                for name in ["before", "during"] {
                    #expect(try await store.takeKey(request(name), of: key.orderType) == nil)
                }
                #expect(try await store.keepAnswer(answer, for: request("before"), of: key.orderType) == answer)
                #expect(try await store.erase(key))
                _ = try await store.keepAnswer(answer, for: request("during"), of: key.orderType)
                let kept = try await fixture.client.query(Self.answers).first?.text(0)
                #expect(kept == "{}{}")
                for name in ["before", "during"] {
                    #expect(try await store.takeKey(request(name), of: key.orderType)?.body == "{}")
                }
            }
        }

        @Test func `contents that another order pins while one is erased stay`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                for round in 0..<Patience.count(40) {
                    _ = try await store.create(try Self.order("old-\(round)", [9]))
                    _ = try await atOnce(3) { number in
                        switch number {
                        case 0: _ = try await store.erase(try Samples.key("old-\(round)"))
                        case 1: _ = try await store.create(try Self.order("new-\(round)", [9]))
                        default:
                            let created = try await fixture.create("plain-\(round)")
                            _ = try await store.putFile(
                                OrderFile(name: "receipt-9.png", contents: Samples.image(9)),
                                of: created.key
                            )
                        }
                    }
                    for name in ["new", "plain"] {
                        let file = try await store.orderFile("receipt-9.png", of: try Samples.key("\(name)-\(round)"))
                        #expect(file?.contents == Samples.image(9))
                        _ = try await store.erase(try Samples.key("\(name)-\(round)"))
                    }
                    #expect(try await fixture.number(Self.assets) == 0)
                }
                try await fixture.expectInvariants()
            }
        }
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func occurrences(of text: String) -> Int {
        indices.count { self[$0...].hasPrefix(text) }
    }
}
