// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Contracts of reading and erasing")
    struct ContractTests {
        private static func cursor(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

        @Test(
            "a cursor that the list did not give out is refused, whatever moment is in it",
            arguments: [
                "-9000000000000000000 x", "9000000000000000000 x", "-300000000000000000 x", "253402300800000000 x",
                "0 x", "1767225599999999 x",
            ]
        )
        func cursors(text: String) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let list = "/api/v1/orders?type=\(Samples.shop)&cursor=\(Self.cursor(text))"
                let answer = await merchant.client.send(.get, list + "&updatedSince=2026-01-01T00:00:00Z")
                #expect(answer.status == .badRequest && answer.code == "bad-cursor", "\(answer.text)")
                if text.hasPrefix("0 ") { return }
                let other = await merchant.client.send(.get, list)
                #expect(other.status == .badRequest && other.code == "bad-cursor", "\(other.text)")
            }
        }

        @Test("an order's 304 has the fields of its 200, and a changed web service URL is another body")
        func notModified() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one")
                let full = await merchant.client.send(.get, path)
                let tag = try #require(full.headers["etag"])
                let same = await merchant.client.send(.get, path, ["if-none-match": tag])
                #expect(same.status == .notModified)
                for field in ["etag", "cache-control", "vary"] { #expect(same.headers[field] == full.headers[field]) }
                merchant.shop.types.replace(
                    try TestSigning.settings(webServiceURL: "https://elsewhere.example.com/")
                )
                let moved = await merchant.client.send(.get, path, ["if-none-match": tag])
                #expect(moved.status == .ok)
                #expect(moved.json["order"]?["webServiceURL"] == "https://elsewhere.example.com/")
                let present = try #require(moved.headers["etag"])
                let body: JSONValue = ["orderNumber": "2"]
                let stale = await merchant.client.send(.patch, path, ["if-match": tag], json: body)
                #expect(stale.status == .preconditionFailed)
                let patch = await merchant.client.send(.patch, path, ["if-match": present], json: body)
                #expect(patch.status == .ok, "\(patch.text)")
                #expect(await merchant.client.send(.get, path).headers["etag"] == patch.headers["etag"])
            }
        }

        @Test(
            "members and filters that a route does not know are refused, not passed over",
            arguments: [
                (HTTPMethod.post, Merchant.path("one", "/share-links"), #"{"lifeTime": 60}"#, ["/lifeTime"]),
                (.post, Merchant.path("one", "/share-links"), #"{"lifetime": 60, "x": 1}"#, ["/x"]),
                (.post, "/api/v1/events", #"{"events": [], "x": 1}"#, ["/x"]),
                (.get, "/api/v1/orders?type=\(Samples.shop)&statsu=cancelled", "", []),
                (.get, "/api/v1/orders?type=\(Samples.shop)&status=open&status=cancelled", "", []),
            ]
        )
        func unknown(method: HTTPMethod, path: String, body: String, places: [String]) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let answer = await merchant.client.send(method, path, bytes: Array(body.utf8))
                #expect(answer.status == .badRequest, "\(answer.text)")
                #expect(answer.places == places)
                let links = Statement("t_no_links", "select count(*) from share_links")
                let made = try await merchant.shop.database.number(links)
                #expect(made == 0)
            }
        }

        @Test(
            "an erased order is 410 on every route but its history, and an unknown one 404, with nothing that leads there"
        )
        func erased() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                #expect(await admin.send(.delete, Merchant.path("one")).status == .noContent)
                for route in AccessTests.routes where route.path.contains("/one") && !route.path.hasSuffix("/history") {
                    let image = route.path.contains("/assets/") ? Samples.image(1) : Array("{}".utf8)
                    let body = route.path.hasSuffix("/events") ? Merchant.event("e").serialized() : image
                    let bytes = route.method == .get || route.method == .delete ? [] : body
                    let gone = await admin.send(route.method, route.path, bytes: bytes)
                    #expect(gone.status == .gone && gone.code == "order-erased", "\(route): \(gone.text)")
                    #expect(gone.json["order"] == nil)
                    let path = route.path.replacing("/one", with: "/none")
                    let unknown = await admin.send(route.method, path, bytes: bytes)
                    #expect(
                        unknown.status == .notFound && unknown.code == "order-not-found",
                        "\(path): \(unknown.text)"
                    )
                    #expect(unknown.json["order"] == nil)
                }
                #expect(await admin.send(.get, Merchant.path("one", "/history")).json["erased"] == true)
            }
        }

        @Test("what comes packed, or as another type than the route takes, is 415")
        func mediaTypes() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one")
                let patch = Array(#"{"orderNumber": "2"}"#.utf8)
                for (method, path) in [
                    (HTTPMethod.patch, path), (.put, path + "/assets/a.png"), (.post, "/api/v1/orders"),
                    (.post, path + "/share-links"),
                ] {
                    let packed = await merchant.client.send(
                        method,
                        path,
                        ["content-encoding": "gzip"],
                        bytes: [0x1f, 0x8b]
                    )
                    #expect(packed.status == .unsupportedMediaType && packed.code == "unsupported-coding")
                    #expect(packed.headers["accept-encoding"] == "identity")
                }
                for type in [
                    "application/json-patch+json", "application/xml", "multipart/form-data; boundary=b", "nonsense",
                ] {
                    let answer = await merchant.client.send(.patch, path, ["content-type": type], bytes: patch)
                    #expect(answer.code == "unsupported-media-type", "\(type): \(answer.text)")
                }
                let put = await merchant.client.send(
                    .put,
                    path,
                    ["content-type": "application/merge-patch+json"],
                    json: Samples.json("one")
                )
                #expect(put.code == "unsupported-media-type", "\(put.text)")
                #expect(await merchant.client.send(.get, path).json["revision"] == 1)
                for type in [
                    "application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json",
                    "application/x-www-form-urlencoded",
                ] {
                    let answer = await merchant.client.send(
                        .patch,
                        path,
                        ["content-type": type, "content-encoding": "identity"],
                        bytes: patch
                    )
                    #expect(answer.status == .ok, "\(type): \(answer.text)")
                }
            }
        }

        @Test("an order type that this process does not serve is there for every route that reads it, and no other is")
        func unserved() async throws {
            try await withMerchant { merchant in
                let key = try await merchant.client([.admin], [Samples.bakery, "order.com.example.none"])
                merchant.shop.types.replace(merchant.shop.types.all.filter { $0.identifier.text != Samples.bakery })
                let type = "/api/v1/order-types/\(Samples.bakery)"
                #expect(await key.send(.put, type + "/assets/a.png", bytes: Samples.image(1)).status == .ok)
                #expect(await key.send(.get, type + "/assets/a.png").status == .ok)
                #expect(await key.send(.get, "/api/v1/orders?type=\(Samples.bakery)").json["orders"] == [])
                for path in [
                    "/api/v1/orders?type=order.com.example.none", "/api/v1/order-types/order.com.example.none/assets/a",
                ] {
                    #expect(await key.send(.get, path).code == "order-type-not-found", "\(path)")
                }
            }
        }

        @Test("HEAD gives the fields of GET on packages and files")
        func head() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let file = Merchant.path("one", "/assets/a.png")
                #expect(await merchant.client.send(.put, file, bytes: Samples.image(1)).status == .ok)
                for path in [file, Merchant.path("one", "/package"), Merchant.path("one")] {
                    let get = await merchant.client.send(.get, path)
                    let head = await merchant.client.send(.head, path)
                    #expect(head.status == .ok && head.headers == get.headers, "\(path)")
                }
            }
        }

        @Test("a history says which of its lists go on")
        func truncated() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/history")
                #expect(await merchant.client.send(.get, path).json["truncated"] == [])
                func insert(_ revisions: Int) async throws {
                    try await merchant.shop.database.run(
                        """
                        insert into order_revisions select (r).* from (
                            select jsonb_populate_record(r, jsonb_build_object('revision', n)) r
                            from order_revisions r, generate_series(
                                (select max(revision) + 1 from order_revisions), \(revisions)) n
                            where r.revision = 1) all_of_them
                        """
                    )
                }
                try await insert(200)
                let whole = await merchant.client.send(.get, path)
                #expect(whole.json["truncated"] == [], "\(whole.text.prefix(300))")
                #expect(whole.json["revisions"]?.arrayValue?.count == 200)
                try await insert(201)
                let cut = await merchant.client.send(.get, path)
                #expect(cut.json["truncated"] == ["revisions"])
                #expect(cut.json["revisions"]?.arrayValue?.count == 200)
                #expect(cut.json["revisions"]?[0]?["revision"] == 201)
            }
        }

        @Test(
            "order.strings is no file in whatever case",
            arguments: ["Order.Strings", "ORDER.STRINGS", "order.strings"]
        )
        func strings(name: String) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                for path in [name, "de.lproj/\(name)"] {
                    let put = await merchant.client.send(
                        .put,
                        Merchant.path("one", "/assets/\(path)"),
                        bytes: Samples.image(1)
                    )
                    #expect(put.status == .unprocessableContent, "\(put.text)")
                    #expect(put.json["errors"]?[0]?["code"] == "strings-file")
                }
                let form = Merchant.form([
                    ("order", Samples.json("two").serialized()), ("de.lproj/\(name)", Samples.image(1)),
                ])
                let create = await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                #expect(create.status == .unprocessableContent, "\(create.text)")
            }
        }
    }
}
