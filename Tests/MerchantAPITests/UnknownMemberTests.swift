// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import StoreTestSupport
import Testing

@testable import MerchantAPI

extension MerchantAPITests {
    /// Members that Apple's documents don't know: newer ones than this program, or a slip.
    @Suite("Unknown members")
    struct UnknownMemberTests {
        private static let order: JSONValue = {
            var order = Samples.json("one").objectValue ?? [:]
            order["loyaltyTier"] = "gold"
            return .object(order)
        }()

        private static func codes(_ answer: HTTPResponse) -> [String] {
            (answer.json["errors"]?.arrayValue ?? []).compactMap { $0["code"]?.stringValue }
        }

        @Test("are refused by default, wherever they come in, with what was meant")
        func refused() async throws {
            try await withMerchant { merchant in
                let created = await merchant.client.send(.post, "/api/v1/orders", json: ["order": Self.order])
                #expect(created.status == .unprocessableContent && Self.codes(created) == ["unknown-member"])
                #expect(created.places == ["/order/loyaltyTier"])
                await merchant.create("one")
                let patched = await merchant.client.send(
                    .patch,
                    Merchant.path("one"),
                    json: ["statusDescripton": "Packed"]
                )
                #expect(Self.codes(patched) == ["unknown-member"])
                #expect(patched.json["errors"]?[0]?["fix"]?.stringValue?.contains("statusDescription") == true)
                let event: JSONValue = ["eventIdentifier": "e", "order": ["loyaltyTier": "gold"]]
                let told = await merchant.client.send(.post, Merchant.path("one", "/events"), json: event)
                #expect(Self.codes(told) == ["unknown-member"])
            }
        }

        @Test("are kept and reach the phone where the order type's setting lets them through")
        func kept() async throws {
            try await withMerchant { merchant in
                var settings = try TestSigning.settings()
                settings[0].keepsUnknownFields = true
                merchant.shop.types.replace(settings)
                let created = await merchant.client.send(.post, "/api/v1/orders", json: ["order": Self.order])
                #expect(created.status == .created, "\(created.text)")
                let patch: JSONValue = ["seatMap": ["row": 7]]
                let patched = await merchant.client.send(.patch, Merchant.path("one"), json: patch)
                #expect(patched.status == .ok, "\(patched.text)")
                let event: JSONValue = [
                    "eventIdentifier": "e", "fulfillment": ["fulfillmentIdentifier": "parcel-1", "droneName": "Ada"],
                ]
                let told = await merchant.client.send(.post, Merchant.path("one", "/events"), json: event)
                #expect(told.json["applied"] == true, "\(told.text)")

                let package = await merchant.client.send(.get, Merchant.path("one", "/package"))
                let report = PackageVerifier(trust: [TestSigning.authority.root]).verify(package.body.joined)
                #expect(report.isValid, "\(report.findings)")
                #expect(report.order?["loyaltyTier"] == "gold" && report.order?["seatMap"] == ["row": 7])
                #expect(report.order?["fulfillments"]?[0]?["droneName"] == "Ada")
                // Whoever verifies it hears of them.
                #expect(report.findings.contains { $0.code == "unknown-member" && !$0.isError })
            }
        }
    }
}
