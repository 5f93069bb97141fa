// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Creating orders")
    struct CreateTests {
        @Test("gives the hand-off, the links and no more")
        func answer() async throws {
            try await withMerchant { merchant in
                let answer = await merchant.create("order 1")
                #expect(answer.status == .created, "\(answer.text)")
                #expect(
                    answer.json.objectValue?.keys == [
                        "orderTypeIdentifier", "orderIdentifier", "revision", "updatedAt", "orderDetails", "links",
                        "warnings",
                    ]
                )
                #expect(answer.json["revision"] == 1)
                #expect(answer.json["updatedAt"] == "2026-01-02T03:04:05Z")
                let link = "/api/v1/orders/\(Samples.shop)/order%201"
                #expect(answer.headers["location"] == link)
                #expect(answer.headers["cache-control"] == "no-store")
                #expect(
                    answer.json["links"]
                        == [
                            "self": .string(link), "package": .string(link + "/package"),
                            "history": .string(link + "/history"),
                        ]
                )
                let details = try #require(answer.json["orderDetails"])
                #expect(details["webServiceURL"] == "https://orders.example.com/shop/")
                #expect(details["authenticationToken"]?.stringValue?.utf8.count == 43)
                // "order 1" is stored with advice: it does not travel well in URLs.
                #expect(
                    answer.json["warnings"]?.arrayValue?.compactMap { $0["code"]?.stringValue } == [
                        "identifier-not-url-safe"
                    ]
                )
                let again = await merchant.create("order 1")
                #expect(again.status == .conflict)
                #expect(again.code == "order-exists")
                #expect(again.json["order"]?.stringValue == link)
                // Of an erased one nothing is left to be changed.
                #expect(await merchant.client.send(.delete, link).status == .noContent)
                let late = await merchant.create("order 1")
                #expect(late.status == .conflict && late.code == "order-exists" && late.json["order"] == nil)
                #expect(!late.text.contains("PATCH") && late.text.contains("was erased"))
            }
        }

        @Test("a second part named order is refused: which one is meant can't be told")
        func twoOrders() async throws {
            try await withMerchant { merchant in
                let form = Merchant.form([
                    ("order", Samples.json("one").serialized()), ("order", Samples.json("two").serialized()),
                ])
                let answer = await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                #expect(answer.status == .unprocessableContent, "\(answer.text)")
                #expect(answer.json["errors"]?[0]?["code"] == "duplicate-file")
                #expect(answer.json["errors"]?[0]?["path"] == "order")
            }
        }

        @Test(
            "names that differ in upper and lower case only, and locales not spelt as usual, give warnings at the door too"
        )
        func similarNames() async throws {
            try await withMerchant { merchant in
                let form = Merchant.form([
                    ("order", Samples.json("one", logo: "logo.png").serialized()), ("logo.png", Samples.image(1)),
                    ("LOGO.png", Samples.image(2)), ("en.lproj/order.strings", Array("\"Example Shop\" = \"B\";".utf8)),
                    ("EN.lproj/order.strings", Array("\"Example Shop\" = \"C\";".utf8)),
                ])
                func codes(_ answer: HTTPResponse) -> [String] {
                    (answer.json["warnings"]?.arrayValue ?? []).compactMap { $0["code"]?.stringValue }.sorted()
                }
                let answer = await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                #expect(answer.status == .created, "\(answer.text)")
                #expect(
                    codes(answer) == ["file-unused", "locale-case", "names-differ-in-case", "names-differ-in-case"]
                )
                let two: JSONValue = ["order": Samples.json("two", logo: "logo.png")]
                #expect(await merchant.client.send(.post, "/api/v1/orders", json: two).status == .created)
                let path = Merchant.path("two", "/assets/")
                #expect(codes(await merchant.client.send(.put, path + "logo.png", bytes: Samples.image(1))) == [])
                let second = await merchant.client.send(.put, path + "Logo.png", bytes: Samples.image(1))
                #expect(codes(second) == ["file-unused", "names-differ-in-case"])
                let texts = await merchant.client.send(
                    .put,
                    Merchant.path("two", "/localizations/DE"),
                    json: ["A": "B"]
                )
                #expect(codes(texts).contains("locale-case"))
            }
        }

        @Test("of one thing no more than a hundred warnings are given, and kept")
        func cappedWarnings() async throws {
            try await withMerchant { merchant in
                var order = Samples.json("one").objectValue ?? [:]
                order["lineItems"] = .array(
                    (0..<2_000).map {
                        ["title": "A", "quantity": 1, "image": .string("item-\($0).png")]
                    }
                )
                let body: JSONValue = ["order": .object(order)]
                let key: HTTPFields = ["idempotency-key": "k"]
                let answer = await merchant.client.send(.post, "/api/v1/orders", key, json: body)
                #expect(answer.status == .created, "\(answer.text.prefix(500))")
                func count(_ answer: HTTPResponse, _ code: JSONValue) -> Int? {
                    answer.json["warnings"]?.arrayValue?.count { $0["code"] == code }
                }
                #expect(count(answer, "file-missing") == 100)
                #expect(answer.text.contains("1900 more of file-missing"))
                #expect(answer.text.utf8.count < 50_000)
                let replayed = await merchant.client.send(.post, "/api/v1/orders", key, json: body)
                #expect(replayed.json == answer.json)
                order["orderNumber"] = "2"
                let put = await merchant.client.send(.put, Merchant.path("one"), json: .object(order))
                #expect(put.status == .ok)
                let repinned = await merchant.client.send(
                    .put,
                    Merchant.path("one", "/localizations/de"),
                    json: ["A": "B"]
                )
                #expect(count(repinned, "file-missing") == 100)
                let texts = JSONValue.object(
                    JSONObject((0..<5_000).map { number -> (String, JSONValue) in ("k\(number)", 1) })
                )
                let faulty = await merchant.client.send(
                    .post,
                    "/api/v1/orders",
                    json: ["order": Samples.json("two"), "localizations": ["de": texts]]
                )
                #expect(faulty.json["errors"]?.arrayValue?.count == 1_001)
                #expect(faulty.json["detail"]?.stringValue?.hasPrefix("5000 faults; errors lists the first") == true)
            }
        }

        @Test(
            "an order that no path could lead to is refused; dots beside other characters are none",
            arguments: [(".", 422), ("..", 422), ("...", 201), (".a", 201), ("a..", 201), ("%2E", 201), ("./", 201)]
        )
        func dots(identifier: String, status: Int) async throws {
            try await withMerchant { merchant in
                let answer = await merchant.create(identifier)
                #expect(answer.status.code == status, "\(answer.text)")
                if status == 422 {
                    #expect(answer.places == ["/order/orderIdentifier"])
                    #expect(answer.json["errors"]?[0]?["code"] == "identifier-unreachable")
                } else {
                    #expect(await merchant.client.send(.get, Merchant.path(identifier)).status == .ok)
                }
            }
        }

        @Test("fills in what is missing, and ignores with a warning what is not the caller's to say")
        func filledIn() async throws {
            try await withMerchant { merchant in
                var order = Samples.json("x").objectValue ?? [:]
                for name in ["orderIdentifier", "orderTypeIdentifier", "schemaVersion", "createdAt"] {
                    order.remove(name)
                }
                order["updatedAt"] = "2020-01-01T00:00:00Z"
                order["webServiceURL"] = "https://elsewhere.example.com"
                order["authenticationToken"] = "0123456789abcdef"
                let bound = try await merchant.client([.ordersWrite], [Samples.shop])
                let answer = await bound.send(.post, "/api/v1/orders", json: ["order": .object(order)])
                #expect(answer.status == .created, "\(answer.text)")
                #expect(answer.json["orderTypeIdentifier"]?.stringValue == Samples.shop)
                #expect(answer.json["orderIdentifier"]?.stringValue?.utf8.count == 36)
                #expect(answer.json["orderDetails"]?["authenticationToken"] != "0123456789abcdef")
                let warned = answer.json["warnings"]?.arrayValue?.compactMap { $0["pointer"]?.stringValue }
                #expect(warned?.sorted() == ["/order/authenticationToken", "/order/updatedAt", "/order/webServiceURL"])
                let open = await merchant.client.send(.post, "/api/v1/orders", json: ["order": .object(order)])
                #expect(open.status == .unprocessableContent)
                #expect(open.places == ["/order/orderTypeIdentifier"])
            }
        }

        @Test("tells all faults at once, each at its place in what was sent")
        func faults() async throws {
            try await withMerchant { merchant in
                var order = Samples.json("x").objectValue ?? [:]
                order["status"] = "done"
                order["createdAt"] = "2026-01-02T03:04:05"
                order["payment"] = ["total": ["amount": "1", "currency": "USB"]]
                order["orderTypeIdentifier"] = 12
                let answer = await merchant.client.send(
                    .post,
                    "/api/v1/orders",
                    json: [
                        "order": .object(order), "localizations": ["en": ["A": 1], "xx-yy-zz": [:], "de": "x"],
                        "more": 1,
                    ]
                )
                #expect(answer.status == .unprocessableContent)
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer.json["requestId"]?.stringValue != nil)
                #expect(
                    Set(answer.places) == [
                        "/order/status", "/order/createdAt", "/order/payment/total/currency", "/order/payment/status",
                        "/order/orderTypeIdentifier", "/localizations/en/A", "/localizations/xx-yy-zz",
                        "/localizations/de", "/more",
                    ]
                )
                for finding in answer.json["errors"]?.arrayValue ?? [] {
                    #expect(finding["severity"] == "error")
                    #expect(finding["code"]?.stringValue != nil && finding["message"]?.stringValue != nil)
                }
            }
        }

        @Test(
            "a body that is none is 400 or 422 and says where",
            arguments: [
                ("", HTTPStatus.badRequest, ""), ("{", .badRequest, ""), ("nope", .badRequest, ""),
                ("[]", .unprocessableContent, "/order"), ("{}", .unprocessableContent, "/order"),
                (#"{"orderNumber": "1"}"#, .unprocessableContent, "/order"),
                (#"{"order": []}"#, .unprocessableContent, "/order"),
                (#"{"order": null}"#, .unprocessableContent, "/order"),
                (#"{"order": {"a": 1, "a": 2}}"#, .badRequest, ""), ("\u{FEFF}{}", .unprocessableContent, "/order"),
            ]
        )
        func bodies(body: String, status: HTTPStatus, place: String) async throws {
            try await withMerchant { merchant in
                let bound = try await merchant.client([.ordersWrite], [Samples.shop])
                let answer = await bound.send(.post, "/api/v1/orders", bytes: Array(body.utf8))
                #expect(answer.status == status, "\(answer.text)")
                #expect(answer.places.contains(place), "\(answer.text)")
                if status == .badRequest {
                    #expect(answer.json["errors"]?[0]?["line"]?.int64Value != nil)
                    #expect(answer.json["errors"]?[0]?["column"]?.int64Value != nil)
                }
            }
        }

        @Test("an order from the future is refused at its createdAt")
        func future() async throws {
            try await withMerchant { merchant in
                for (ahead, status) in [(300, HTTPStatus.created), (900, .unprocessableContent)] {
                    let created = WallTime(seconds: WallTime.now().seconds + Int64(ahead)).rfc3339
                    let order = Samples.json("f\(ahead)", created: created)
                    let answer = await merchant.client.send(.post, "/api/v1/orders", json: ["order": order])
                    #expect(answer.status == status)
                    #expect(answer.places == (status == .created ? [] : ["/order/createdAt"]))
                }
            }
        }

        @Test("multipart brings images and strings, and every bad part is named")
        func multipart() async throws {
            try await withMerchant { merchant in
                let order = Samples.json("m", logo: "logo.png").serialized()
                let strings = Array("/* c */ \"Example Shop\" = \"a \\\"b\\\"\";\n".utf8)
                let good = Merchant.form([
                    ("order", order), ("logo.png", Samples.image(1)), ("en.lproj/order.strings", strings),
                ])
                let answer = await merchant.client.send(.post, "/api/v1/orders", good.headers, bytes: good.body)
                #expect(answer.status == .created, "\(answer.text)")
                #expect(answer.json["warnings"] == [])
                let package = await merchant.client.send(.get, Merchant.path("m", "/package"))
                #expect(package.status == .ok)
                #expect(package.headers["content-type"] == "application/vnd.apple.finance.order")
                let tag = try #require(package.headers["etag"])
                let same = await merchant.client.send(.get, Merchant.path("m", "/package"), ["if-none-match": tag])
                #expect(same.status == .notModified)

                let bad = Merchant.form([
                    ("order", Samples.json("n").serialized()), ("a.png", []), ("b.png", Array("GIF89a".utf8)),
                    ("../c.png", Samples.image(1)), ("d.png", Samples.image(1)), ("d.png", Samples.image(2)),
                    ("en.lproj/order.strings", Array("\"KEY\" = ".utf8)), (".e.png", Samples.image(1)),
                    ("manifest.json", Samples.image(1)),
                    ("huge.png", Samples.png + [UInt8](repeating: 0, count: 5_000_000)),
                ])
                let refused = await merchant.client.send(.post, "/api/v1/orders", bad.headers, bytes: bad.body)
                #expect(refused.status == .unprocessableContent, "\(refused.text.prefix(200))")
                #expect(
                    Set(refused.places) == [
                        "a.png", "b.png", "../c.png", "d.png", "en.lproj/order.strings", ".e.png", "manifest.json",
                        "huge.png",
                    ]
                )
                #expect(await merchant.client.send(.get, Merchant.path("n")).status == .notFound)
            }
        }

        @Test("a strings file tells its faults as order validate does, and a key that stands twice is a warning")
        func strings() async throws {
            try await withMerchant { merchant in
                let path = "en.lproj/order.strings"
                func send(_ order: String, _ strings: [UInt8]) async -> HTTPResponse {
                    let form = Merchant.form([("order", Samples.json(order).serialized()), (path, strings)])
                    return await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                }
                let twice = await send(
                    "t",
                    Array("\"Example Shop\" = \"a\";\n\"B\" = \"b\";\n\"Example Shop\" = \"c\";\n".utf8)
                )
                #expect(twice.status == .created, "\(twice.text)")
                let warnings = twice.json["warnings"]?.arrayValue ?? []
                #expect(warnings.map { $0["code"] } == ["strings-duplicate-key"])
                #expect(warnings.first?["path"]?.stringValue == path && warnings.first?["line"] == 3)
                let texts = await merchant.client.send(.get, Merchant.path("t", "/localizations/en"))
                #expect(texts.json == ["Example Shop": "c", "B": "b"])
                for (strings, code, line) in [
                    (Array("\n\"KEY\" = ".utf8), "strings-syntax", 2), ([0xC3, 0x28], "strings-encoding", 1),
                    (Array("\"KEY\" = \"a".utf8), "strings-unterminated", 1),
                ] as [([UInt8], String, Int64)] {
                    let refused = await send("u", strings)
                    #expect(refused.status == .unprocessableContent)
                    let error = refused.json["errors"]?[0]
                    #expect(error?["code"]?.stringValue == code, "\(refused.text)")
                    #expect(error?["line"]?.int64Value == line)
                }
            }
        }

        @Test("JSON that is deeper or has more values than is read is no fault of its syntax")
        func limits() async throws {
            try await withMerchant { merchant in
                let deep = String(repeating: "[", count: 65)
                let long = "[" + String(repeating: "1,", count: 1_000_000) + "1]"
                for (path, body) in [("orders", deep), ("events", deep), ("events", long)] {
                    let answer = await merchant.client.send(.post, "/api/v1/" + path, bytes: Array(body.utf8))
                    #expect(answer.status == .badRequest && answer.code == "json-too-large", "\(answer.text)")
                    #expect(answer.json["errors"]?[0]?["code"] == "order-too-large")
                    #expect(answer.json["errors"]?[0]?["line"] == 1)
                }
                let broken = await merchant.client.send(.post, "/api/v1/events", bytes: Array("[01]".utf8))
                #expect(broken.code == "json-syntax" && broken.json["errors"]?[0]?["code"] == "json-syntax")
            }
        }

        @Test("files that together make the package too large are refused before anything is stored")
        func tooLarge() async throws {
            try await withMerchant { merchant in
                let image = Samples.png + [UInt8](repeating: 1, count: 2_600_000)
                let form = Merchant.form([
                    ("order", Samples.json("big", logo: "a.png").serialized()), ("a.png", image), ("b.png", image),
                ])
                let answer = await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                #expect(answer.status == .unprocessableContent)
                #expect(answer.json["errors"]?[0]?["code"] == "package-too-large")
                let json = [UInt8](repeating: 0x20, count: (1 << 20) + 1)
                #expect(await merchant.client.send(.post, "/api/v1/orders", bytes: json).status == .contentTooLarge)
            }
        }

        @Test(
            "a form without order, boundary or end is refused",
            arguments: [
                (
                    "multipart/form-data; boundary=b",
                    "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n--b--", 422
                ),
                ("multipart/form-data", "--b--", 400), ("multipart/form-data; boundary=b", "--b", 400),
                ("Multipart/Form-Data; boundary=b", "--b--", 422),
            ]
        )
        func badForms(type: String, body: String, status: Int) async throws {
            try await withMerchant { merchant in
                let headers: HTTPFields = ["content-type": type]
                let answer = await merchant.client.send(.post, "/api/v1/orders", headers, bytes: Array(body.utf8))
                #expect(answer.status.code == status, "\(answer.text)")
                _ = try await merchant.shop.store.orderTypes()
            }
        }

        @Test("validateOnly answers in full and stores nothing; a slip in its value is refused")
        func validateOnly() async throws {
            try await withMerchant { merchant in
                let path = "/api/v1/orders?validateOnly="
                let body: JSONValue = ["order": Samples.json("dry", logo: "logo.png")]
                let answer = await merchant.client.send(.post, path + "true", ["idempotency-key": "k"], json: body)
                #expect(answer.status == .ok)
                #expect(answer.json["revision"] == 1)
                #expect(answer.json["orderDetails"] == .null)
                #expect(answer.json["warnings"]?[0]?["code"] == "file-missing")
                for value in ["1", "TRUE", "yes", ""] {
                    #expect(await merchant.client.send(.post, path + value, json: body).code == "bad-validate-only")
                }
                let stored = try await merchant.shop.database.number(Self.everything)
                #expect(stored == 0)
                #expect(await merchant.client.send(.post, path + "false", json: body).status == .created)
                #expect(await merchant.client.send(.post, path + "true", json: body).status == .conflict)
            }
        }

        private static let everything = Statement(
            "t_everything",
            """
            select (select count(*) from orders) + (select count(*) from order_documents) + (select count(*) from assets)
                + (select count(*) from idempotency) + (select count(*) from order_events)
            """
        )
    }
}
