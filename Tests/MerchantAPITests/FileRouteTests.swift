// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Files and texts")
    struct FileRouteTests {
        @Test("an order's own file makes a revision, is read back, and goes again")
        func orderFiles() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/assets/de.lproj/logo.png")
                let put = await merchant.client.send(.put, path, bytes: Samples.image(1))
                #expect(put.status == .ok, "\(put.text)")
                #expect(put.json["revision"] == 2)
                let got = await merchant.client.send(.get, path)
                #expect(got.body.joined == Samples.image(1))
                #expect(got.headers["content-type"] == "image/png")
                let tag = try #require(got.headers["etag"])
                #expect(await merchant.client.send(.get, path, ["if-none-match": tag]).status == .notModified)
                let same = await merchant.client.send(.put, path, bytes: Samples.image(1))
                #expect(same.json["revision"] == 2)
                let stale = await merchant.client.send(.put, path, ["if-match": "\"x\""], bytes: Samples.image(2))
                #expect(stale.status == .preconditionFailed)
                let gone = await merchant.client.send(.delete, path)
                #expect(gone.json["revision"] == 3)
                #expect(await merchant.client.send(.get, path).code == "asset-not-found")
                #expect(await merchant.client.send(.delete, path).code == "asset-not-found")
                let unknown = await merchant.client.send(
                    .put,
                    Merchant.path("none", "/assets/a.png"),
                    bytes: Samples.image(1)
                )
                #expect(unknown.status == .notFound)
            }
        }

        @Test("no road makes an order of more files than a verifier of its package reads")
        func tooManyFiles() async throws {
            try await withMerchant { merchant in
                func form(_ count: Int) -> (headers: HTTPFields, body: [UInt8]) {
                    let images = (0..<count).map { (name: "\($0).png", contents: Samples.image(1)) }
                    return Merchant.form([("order", Samples.json("many").serialized())] + images)
                }
                func isRefused(_ answer: HTTPResponse) -> Bool {
                    let finding = answer.json["errors"]?[0]
                    return answer.status == .unprocessableContent && answer.code == "package-too-large"
                        && finding?["code"] == "zip-too-many-entries"
                        && finding?["message"]?.stringValue?.contains("198 files") == true
                        && finding?["fix"]?.stringValue?.contains("one image may serve many") == true
                }
                let more = form(198)
                let refused = await merchant.client.send(.post, "/api/v1/orders", more.headers, bytes: more.body)
                #expect(isRefused(refused), "\(refused.text)")
                let most = form(197)
                let created = await merchant.client.send(.post, "/api/v1/orders", most.headers, bytes: most.body)
                #expect(created.status == .created, "\(created.text)")
                let one = Merchant.path("many", "/assets/one-more.png")
                let put = await merchant.client.send(.put, one, bytes: Samples.image(1))
                #expect(isRefused(put), "\(put.text)")
                let again = Merchant.path("many", "/assets/7.png")
                #expect(await merchant.client.send(.put, again, bytes: Samples.image(2)).status == .ok)
                let admin = try await merchant.client([.admin], [Samples.shop])
                let ofType = "/api/v1/order-types/\(Samples.shop)/assets/shared.png"
                #expect(await admin.send(.put, ofType, bytes: Samples.image(3)).status == .ok)
                let merchantJSON = Samples.json("many", logo: "shared.png")["merchant"] ?? .null
                let patch = await merchant.client.send(.patch, Merchant.path("many"), json: ["merchant": merchantJSON])
                #expect(isRefused(patch), "\(patch.text)")
                #expect(await merchant.client.send(.delete, again).status == .ok)
                let fits = await merchant.client.send(.patch, Merchant.path("many"), json: ["merchant": merchantJSON])
                #expect(fits.status == .ok, "\(fits.text)")
            }
        }

        @Test("a type's file serves later orders, and a refresh is started for those there are")
        func typeFiles() async throws {
            try await withMerchant { merchant in
                let admin = try await merchant.client([.admin], [Samples.shop])
                let type = "/api/v1/order-types/\(Samples.shop)"
                let put = await admin.send(.put, type + "/assets/logo.png", bytes: Samples.image(3))
                #expect(put.status == .ok, "\(put.text)")
                #expect(put.json["path"] == "logo.png")
                #expect(await admin.send(.get, type + "/assets/logo.png").body.joined == Samples.image(3))
                let order = Samples.json("one", logo: "logo.png")
                let created = await merchant.client.send(.post, "/api/v1/orders", json: ["order": order])
                #expect(created.json["warnings"] == [])
                let refresh = await admin.send(.post, type + "/refresh")
                #expect(refresh.status == .accepted)
                let shop = try OrderTypeIdentifier(Samples.shop)
                #expect(try await merchant.shop.store.pendingRefreshes() == [shop])
                #expect(await admin.send(.delete, type + "/assets/logo.png").status == .noContent)
                #expect(await admin.send(.delete, type + "/assets/logo.png").code == "asset-not-found")
                #expect(await admin.send(.get, type + "/assets/logo.png").code == "asset-not-found")
            }
        }

        /// An image of a number of million bytes.
        private static func image(_ number: UInt8, millions: Int) -> [UInt8] {
            Samples.image(number) + [UInt8](repeating: 0, count: millions * 1_000_000)
        }

        @Test("files that make no package together are refused one by one too, and what makes it smaller is not")
        func filesTooLargeTogether() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/assets/")
                #expect(
                    await merchant.client.send(.put, path + "a.png", bytes: Self.image(1, millions: 3)).status == .ok
                )
                let second = await merchant.client.send(.put, path + "b.png", bytes: Self.image(2, millions: 2))
                #expect(second.status == .unprocessableContent, "\(second.text)")
                #expect(second.code == "package-too-large")
                #expect(second.json["errors"]?[0]?["code"] == "package-too-large")
                #expect(second.json["errors"]?[0]?["path"] == "a.png")
                #expect(second.json["errors"]?[0]?["message"]?.stringValue?.contains("b.png (2000058)") == true)
                #expect(await merchant.client.send(.get, path + "b.png").status == .notFound)
                #expect(await merchant.client.send(.get, Merchant.path("one", "/package")).status == .ok)
                // Texts and a document that outgrow what is left.
                let long = JSONValue.string(String(repeating: "x", count: 500_000))
                for locale in ["de", "fr", "it", "es"] {
                    let put = await merchant.client.send(
                        .put,
                        Merchant.path("one", "/localizations/" + locale),
                        json: ["KEY": long]
                    )
                    #expect((put.code == "package-too-large") == (locale == "es"), "\(locale): \(put.text)")
                }
                let patch = await merchant.client.send(
                    .patch,
                    Merchant.path("one"),
                    json: ["orderNumber": .string(String(repeating: "7", count: 900_000))]
                )
                #expect(patch.code == "package-too-large", "\(patch.text.prefix(300))")
                #expect(await merchant.client.send(.delete, path + "a.png").status == .ok)
                #expect(
                    await merchant.client.send(.put, path + "b.png", bytes: Self.image(2, millions: 2)).status == .ok
                )
            }
        }

        @Test(
            "files of a type that fit no package are refused; those too large beside an order's own stay away from it"
        )
        func typeFilesTooLarge() async throws {
            try await withMerchant { merchant in
                let admin = try await merchant.client([.admin])
                let type = "/api/v1/order-types/\(Samples.shop)/assets/"
                #expect(await admin.send(.put, type + "logo.png", bytes: Self.image(1, millions: 1)).status == .ok)
                let order: JSONValue = ["order": Samples.json("one", logo: "logo.png")]
                #expect(await merchant.client.send(.post, "/api/v1/orders", json: order).status == .created)
                let own = Merchant.path("one", "/assets/receipt.png")
                #expect(await merchant.client.send(.put, own, bytes: Self.image(2, millions: 3)).status == .ok)
                #expect(await admin.send(.put, type + "logo.png", bytes: Self.image(3, millions: 3)).status == .ok)
                let twice = await admin.send(.put, type + "logo@2x.png", bytes: Self.image(4, millions: 2))
                #expect(twice.code == "package-too-large", "\(twice.text)")
                // What is told of the order goes on, with the files that it has.
                let event = await merchant.client.send(
                    .post,
                    Merchant.path("one", "/events"),
                    json: Merchant.event("e")
                )
                #expect(event.json["applied"] == true, "\(event.text)")
                let store = merchant.shop.store
                let shop = try OrderTypeIdentifier(Samples.shop)
                try await store.startRefresh(of: shop)
                while try await store.refreshBatch(of: shop, size: 10) != nil {}
                #expect(await merchant.client.send(.get, Merchant.path("one", "/package")).status == .ok)
                let next = await merchant.client.send(
                    .post,
                    "/api/v1/orders",
                    json: ["order": Samples.json("two", logo: "logo.png")]
                )
                #expect(next.status == .created, "\(next.text)")
            }
        }

        @Test(
            "bad paths and contents are refused with what is wrong",
            arguments: [
                ("a.gif", "GIF89a", "unknown-format"), ("a.png", "", "empty-file"), ("a%20b.png", "x", "bad-path"),
                ("x/y/z.png", "x", "bad-path"), ("xx_YY.lproj/a.png", "x", "bad-path"), (".hidden", "x", "bad-path"),
                ("manifest.json", "x", "reserved-name"), ("Signature", "x", "reserved-name"),
                ("en.lproj/order.strings", "x", "strings-file"), ("a%2Fb%2Fc.png", "x", "bad-path"),
                ("en.lproj", "x", "bad-path"), ("en.lproj/EN.LPROJ", "x", "bad-path"),
            ]
        )
        func badFiles(path: String, contents: String, code: String) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                for base in [Merchant.path("one", "/assets/"), "/api/v1/order-types/\(Samples.shop)/assets/"] {
                    let answer = await admin.send(.put, base + path, bytes: Array(contents.utf8))
                    #expect(answer.status == .unprocessableContent, "\(answer.text)")
                    #expect(answer.json["errors"]?[0]?["code"]?.stringValue == code, "\(answer.text)")
                    #expect(await admin.send(.get, base + path).status == .notFound)
                    #expect(await admin.send(.delete, base + path).status == .notFound)
                }
                let dots = await admin.send(.put, Merchant.path("one", "/assets/../x.png"), bytes: Samples.image(1))
                #expect(dots.status == .badRequest)
            }
        }

        @Test("texts are put, read and removed, of an order and of a type")
        func localizations() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                let texts: JSONValue = ["KEY": "Größe \"x\"\n", "B": ""]
                for base in [Merchant.path("one"), "/api/v1/order-types/\(Samples.shop)"] {
                    let path = base + "/localizations/de-AT"
                    #expect(await admin.send(.get, path).code == "localization-not-found")
                    let put = await admin.send(.put, path, json: texts)
                    #expect(put.status == .ok, "\(put.text)")
                    #expect(await admin.send(.get, path).json == texts)
                    let removed = await admin.send(.delete, path)
                    #expect(removed.status == (base.contains("order-types") ? .noContent : .ok))
                    #expect(await admin.send(.delete, path).code == "localization-not-found")
                    let faulty = await admin.send(.put, path, json: ["A": 1, "B": "x", "C": []])
                    #expect(faulty.status == .unprocessableContent)
                    #expect(faulty.places == ["/A", "/C"])
                    #expect(await admin.send(.put, path, bytes: [0x7b]).status == .badRequest)
                    #expect(await admin.send(.put, path, json: []).status == .unprocessableContent)
                    let odd = await admin.send(.put, base + "/localizations/x_y", json: texts)
                    #expect(odd.status == .unprocessableContent && odd.code == "invalid-localization")
                    #expect(odd.json["errors"]?[0]?["code"] == "bad-locale")
                    #expect(await admin.send(.get, base + "/localizations/x_y").code == "localization-not-found")
                }
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }

        @Test(
            "share links live between a minute and thirty days",
            arguments: [
                ("", 201), ("{}", 201), (#"{"lifetime": 60}"#, 201), (#"{"lifetime": 2592000}"#, 201),
                (#"{"lifetime": 59}"#, 400), (#"{"lifetime": 2592001}"#, 400), (#"{"lifetime": -1}"#, 400),
                (#"{"lifetime": 1e400}"#, 400), (#"{"lifetime": 99999999999999999999}"#, 400),
                (#"{"lifetime": "60"}"#, 400),
                (#"{"lifetime": 60.5}"#, 400), ("[]", 400), ("{", 400),
            ]
        )
        func lifetimes(body: String, status: Int) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let answer = await merchant.client.send(
                    .post,
                    Merchant.path("one", "/share-links"),
                    bytes: Array(body.utf8)
                )
                #expect(answer.status.code == status, "\(answer.text)")
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }
    }
}
