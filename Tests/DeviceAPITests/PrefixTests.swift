// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("Paths of web service URLs")
    struct PrefixTests {
        @Test(
            "an order is fetched below the URL that its package names, escapes and all",
            arguments: [
                "/caf%C3%A9", "/my%20shop/", "/caf%c3%a9", "/a%2Fb/c", "/%7Bx%7D", "//a//b/", "/a:b@c", "/plus+sign",
                "",
            ]
        )
        func roundTrip(path: String) async throws {
            let url = "https://orders.example.com" + path
            try await withDoors(settings: try TestSigning.settings(webServiceURL: url)) { doors in
                let token = try await doors.create("one")
                let base = path.hasSuffix("/") ? String(path.dropLast()) : path
                let order = "\(base)/v1/orders/\(Samples.shop)/one"
                let answer = await doors.device.send(.get, order, doors.authorization(token))
                #expect(answer.status == .ok, "\(order): \(answer.text.prefix(200))")
                let root = await doors.device.send(
                    .get,
                    "/v1/orders/\(Samples.shop)/one",
                    doors.authorization(token)
                )
                #expect(root.status == .ok)
                let link = await doors.merchant.send(.post, "/api/v1/orders/\(Samples.shop)/one/share-links")
                let shared = try #require(link.json["url"]?.stringValue)
                #expect(shared.hasPrefix(url))
                let target = String(shared.dropFirst("https://orders.example.com".count))
                #expect(await doors.device.send(.get, target).status == .ok, "\(target)")
            }
        }
    }
}
