// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("Share links")
    struct ShareLinkTests {
        static func make(_ doors: Doors, _ order: String) async throws -> (identifier: String, path: String) {
            let answer = await doors.merchant.send(
                .post,
                "/api/v1/orders/\(Samples.shop)/\(PercentEncoding.encode(order))/share-links"
            )
            #expect(answer.status == .created)
            let url = try #require(answer.json["url"]?.stringValue)
            let base = "https://orders.example.com"
            #expect(url.hasPrefix(base + "/shop/o/"))
            return (try #require(answer.json["identifier"]?.stringValue), String(url.dropFirst(base.count)))
        }

        @Test("lead a browser to the package, under the address that was given out")
        func plainGet() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let link = try await Self.make(doors, "one")
                let answer = await doors.device.send(.get, link.path)
                #expect(answer.status == .ok)
                #expect(answer.headers["content-type"] == "application/vnd.apple.finance.order")
                #expect(answer.headers["content-disposition"] == "attachment; filename=\"one.order\"")
                #expect(answer.body.joined == (await doors.fetch("one", token)).body.joined)
                let tag = try #require(answer.headers["etag"])
                #expect(await doors.device.send(.get, link.path, ["if-none-match": tag]).status == .notModified)
                #expect(await doors.device.send(.head, link.path).headers == answer.headers)
                // A proxy may have taken the prefix away.
                #expect(await doors.device.send(.get, String(link.path.dropFirst(5))).status == .ok)
            }
        }

        @Test("the file name is a plain one whatever the path says")
        func fileName() async throws {
            try await withDoors { doors in
                _ = try await doors.create("a \"quoted\" order")
                let link = try await Self.make(doors, "a \"quoted\" order")
                #expect(link.path.hasSuffix("/order.order"))
                let folder = link.path.split(separator: "/").dropLast().joined(separator: "/")
                for name in ["x%22;filename=evil.exe.order", "%0D%0Aa.order", "%C3%BC.order"] {
                    let answer = await doors.device.send(.get, "/\(folder)/\(name)")
                    // Control characters never reach a route.
                    if answer.status == .badRequest { continue }
                    #expect(answer.headers["content-disposition"] == "attachment; filename=\"order.order\"")
                }
            }
        }

        @Test("wrong, revoked, expired ones and those of erased orders are one 404")
        func gone() async throws {
            try await withDoors { doors in
                for order in ["revoked", "expired", "erased"] { _ = try await doors.create(order) }
                let wrong = await doors.device.send(.get, "/o/wrong/x.order")
                #expect(wrong.status == .notFound)
                #expect(wrong.headers["www-authenticate"] == nil)
                let revoked = try await Self.make(doors, "revoked")
                let links = "/api/v1/orders/\(Samples.shop)/revoked/share-links"
                #expect(await doors.merchant.send(.delete, "\(links)/\(revoked.identifier)").status == .noContent)
                #expect(await doors.merchant.send(.delete, "\(links)/\(revoked.identifier)").status == .notFound)
                expectSame(await doors.device.send(.get, revoked.path), wrong)
                let erased = try await Self.make(doors, "erased")
                #expect(try await doors.shop.store.erase(try Samples.key("erased")))
                expectSame(await doors.device.send(.get, erased.path), wrong)
                let expired = try await Self.make(doors, "expired")
                try await doors.shop.database.run("update share_links set expires_at = now()")
                expectSame(await doors.device.send(.get, expired.path), wrong)
                for path in ["/o/\(String(repeating: "x", count: 4_000))/x.order", "/o/%20/x.order", "/o/x/x.pdf"] {
                    expectSame(await doors.device.send(.get, path), wrong)
                }
            }
        }

        @Test("an order's own token opens no link, and a link's token no order")
        func tokensStayApart() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let link = try await Self.make(doors, "one")
                #expect(await doors.device.send(.get, "/o/\(token)/one.order").status == .notFound)
                let linkToken = String(link.path.split(separator: "/")[2])
                #expect(await doors.fetch("one", linkToken).status == .unauthorized)
            }
        }
    }
}
