// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import MerchantAPI

extension MerchantAPITests {
    /// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length. A merchant may
    /// send such a run as any name and any text, and the loop that compares it answers nobody meanwhile.
    @Suite("Runs of combining marks")
    struct CombiningMarksTests {
        /// 200 KB of marks that are in the wrong order, pair by pair. One comparison by Swift's `==` takes some seconds.
        private static let marks = "a" + String(repeating: "\u{301}\u{323}", count: 50_000)

        private static func with(_ value: JSONValue, _ name: String = marks, _ member: JSONValue = 1) -> JSONValue {
            var object = value.objectValue ?? [:]
            object[name] = member
            return .object(object)
        }

        /// Each form of a body with one unknown member, at the top or further in.
        private static func variants(_ body: JSONValue) -> [JSONValue] {
            var all = [self.with(body)]
            for (name, member) in body.objectValue ?? [:] {
                switch member {
                case .object: all += self.variants(member).map { self.with(body, name, $0) }
                case .array(let items):
                    guard let first = items.first, first.objectValue != nil else { continue }
                    all += self.variants(first).map { self.with(body, name, .array([$0])) }
                default: continue
                }
            }
            return all
        }

        @Test("in the name of a member cost no route more than reading them", arguments: [true, false])
        func members(keepsUnknown: Bool) async throws {
            try await withMerchant { merchant in
                var settings = try TestSigning.settings()
                settings[0].keepsUnknownFields = keepsUnknown
                merchant.shop.types.replace(settings)
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                let loop = try EventLoop(name: "marks")
                let order = Samples.json("two")
                var named = Merchant.event("e").objectValue ?? [:]
                named["orderTypeIdentifier"] = .string(Samples.shop)
                named["orderIdentifier"] = "one"
                let texts: JSONValue = ["statusDescription": "Packed"]
                let type = "/api/v1/order-types/\(Samples.shop)"
                let bodies: [(HTTPMethod, String, JSONValue)] = [
                    (.post, "/api/v1/orders", ["order": order, "localizations": ["en": texts]]),
                    (.post, "/api/v1/orders?validateOnly=true", ["order": order]),
                    (.patch, Merchant.path("one"), ["payment": ["status": "paid"]]),
                    (.put, Merchant.path("one"), Samples.json("one")),
                    (.post, Merchant.path("one", "/events"), Merchant.event("e")),
                    (.post, "/api/v1/events", ["events": [.object(named)]]),
                    (.post, Merchant.path("one", "/share-links"), ["lifetime": 60]),
                    (.put, Merchant.path("one", "/localizations/en"), texts),
                    (.put, type + "/localizations/en", texts),
                ]
                for (method, target, body) in bodies {
                    for (number, variant) in Self.variants(body).enumerated() {
                        let headers: HTTPFields = ["idempotency-key": "\(target) \(number)"]
                        await expectLinear("\(method.rawValue) \(target) \(number)", on: loop) {
                            await admin.send(method, target, method == .post ? headers : [:], json: variant)
                        }
                    }
                }
                await loop.shutdown()
            }
        }

        @Test("in a text, a locale or a file's name cost no route more than reading them")
        func texts() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let loop = try EventLoop(name: "marks")
                let text = JSONValue.string(Self.marks)
                let order = Samples.json("two")
                let image = JSONValue.object(["merchant": Self.with(order["merchant"] ?? .null, "logo", text)])
                let patches: [JSONValue] = [
                    image, ["statusDescription": text], ["orderNumber": text], ["status": text],
                ]
                for (number, patch) in patches.enumerated() {
                    await expectLinear("patch \(number)", on: loop) {
                        await merchant.client.send(.patch, Merchant.path("one"), json: patch)
                    }
                }
                for name in ["orderTypeIdentifier", "orderIdentifier", "createdAt", "orderManagementURL"] {
                    await expectLinear(name, on: loop) {
                        await merchant.client.send(
                            .post,
                            "/api/v1/orders",
                            json: ["order": Self.with(order, name, text)]
                        )
                    }
                }
                for name in ["eventIdentifier", "occurredAt", "orderTypeIdentifier", "orderIdentifier"] {
                    let event = Self.with(Merchant.event("e"), name, text)
                    await expectLinear(name, on: loop) {
                        await merchant.client.send(.post, "/api/v1/events", json: ["events": [event]])
                    }
                }
                let localizations: [JSONValue] = [
                    .object([Self.marks: [:]]), ["en": .object([Self.marks: 1])], ["en": .object([Self.marks: text])],
                ]
                for (number, localization) in localizations.enumerated() {
                    await expectLinear("localization \(number)", on: loop) {
                        let body: JSONValue = ["order": order, "localizations": localization]
                        return await merchant.client.send(.post, "/api/v1/orders", json: body)
                    }
                }
                // As long as a part's header may be, and as many as may be.
                let name = "a" + String(repeating: "\u{301}\u{323}", count: 990)
                let parts = (0..<190).map { (name: "\($0)\(name)", contents: [UInt8(0)]) }
                let form = Merchant.form([("order", order.serialized())] + parts)
                await expectLinear("multipart", on: loop) {
                    await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                }
                await loop.shutdown()
            }
        }

        @Test("are told of a thousand times, not half a million")
        func many() {
            var body: JSONObject = ["events": []]
            for number in 0..<3_000 { body["member\(number)"] = 1 }
            let findings = [Finding].unknownMembers(of: body, known: ["events"], fix: "")
            #expect(findings.count == 1_001)
            #expect(findings.last?.message == "The body has 2000 more members that it may not have.")
        }
    }
}
