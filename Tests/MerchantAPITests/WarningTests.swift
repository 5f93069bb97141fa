// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Warnings about files and texts")
    struct WarningTests {
        /// How an order comes to its files and texts, and what its package is told for it.
        struct Story: Sendable, CustomTestStringConvertible {
            let name: String
            var logo: String?
            /// Paths and contents that the type has before.
            var typeFiles: [(path: String, contents: [UInt8])] = []
            var typeTexts: [(locale: String, key: String)] = []
            /// Texts that the order is created with: a key for each locale.
            var texts: [(locale: String, key: String)] = []
            /// Requests that come after, each with its path below the order.
            var requests: [(method: HTTPMethod, path: String, body: [UInt8])] = []
            /// The codes that the last answer warns of.
            let codes: [String]

            var testDescription: String { self.name }
        }

        static let stories: [Story] = [
            Story(
                name: "nothing wrong",
                logo: "logo.png",
                texts: [("en", "Nut"), ("de", "Nut")],
                requests: [(.put, "/assets/logo.png", Samples.image(1))],
                codes: []
            ),
            Story(name: "other keys", texts: [("en", "A"), ("de", "B")], codes: ["strings-keys-differ"]),
            Story(
                name: "the type's texts have other keys",
                typeTexts: [("fr", "a")],
                texts: [("en", "A")],
                codes: ["strings-keys-differ"]
            ),
            Story(name: "the type's texts are for later statuses", typeTexts: [("en", "Handed over")], codes: []),
            Story(name: "the type's texts have a slip", typeTexts: [("en", "nut")], codes: ["strings-key-unused"]),
            Story(
                name: "a folder without texts",
                logo: "logo.png",
                requests: [(.put, "/assets/de.lproj/logo.png", Samples.image(1))],
                codes: ["strings-missing"]
            ),
            Story(
                name: "the texts of a folder are taken away",
                logo: "logo.png",
                texts: [("de", "Nut")],
                requests: [
                    (.put, "/assets/de.lproj/logo.png", Samples.image(1)), (.delete, "/localizations/de", []),
                ],
                codes: ["strings-missing"]
            ),
            Story(
                name: "a damaged image",
                logo: "logo.png",
                requests: [(.put, "/assets/logo.png", Samples.png)],
                codes: ["image-damaged"]
            ),
            Story(
                name: "an image in one language of two",
                logo: "logo.png",
                texts: [("de", "Nut"), ("en", "Nut")],
                requests: [(.put, "/assets/de.lproj/logo.png", Samples.image(1))],
                codes: ["localized-file-missing"]
            ),
            Story(
                name: "an image at the top and in a language",
                logo: "logo.png",
                texts: [("de", "Nut")],
                requests: [
                    (.put, "/assets/de.lproj/logo.png", Samples.image(1)), (.put, "/assets/logo.png", Samples.image(2)),
                ],
                codes: ["localized-file-overridden"]
            ),
            Story(
                name: "an image in more resolutions in one language",
                logo: "logo.png",
                texts: [("de", "Nut"), ("en", "Nut")],
                requests: [
                    (.put, "/assets/de.lproj/logo.png", Samples.image(1)),
                    (.put, "/assets/en.lproj/logo.png", Samples.image(1)),
                    (.put, "/assets/en.lproj/logo@2x.png", Samples.image(1)),
                ],
                codes: ["image-size", "localized-resolutions-differ"]
            ),
            Story(
                name: "a file that nothing names",
                requests: [(.put, "/assets/logo.png", Samples.image(1))],
                codes: ["file-unused"]
            ),
            Story(
                name: "a patch names what one language lacks",
                texts: [("de", "Nut"), ("en", "Nut")],
                requests: [
                    (.put, "/assets/de.lproj/a.png", Samples.image(1)),
                    (.patch, "", Array(#"{"merchant": {"logo": "a.png"}}"#.utf8)),
                ],
                codes: ["localized-file-missing"]
            ),
            Story(
                name: "a name that no file answers to",
                texts: [("de", "Nut"), ("en", "Nut")],
                requests: [(.patch, "", Array(#"{"merchant": {"logo": "a.png"}}"#.utf8))],
                codes: ["file-missing"]
            ),
            Story(
                name: "the type's file is no image",
                logo: "logo",
                typeFiles: [("logo.pdf", Array("%PDF-1.4".utf8))],
                codes: ["file-format"]
            ),
        ]

        private static func order(_ logo: String?) -> JSONValue {
            // A text that is a key wherever a story has keys: what is told is about files and languages alone.
            Samples.json("one", logo: logo).mergePatched(with: ["merchant": ["displayName": "Nut"]])
        }

        private static func texts(_ texts: [(locale: String, key: String)]) -> JSONValue {
            .object(JSONObject(texts.map { ($0.locale, .object([$0.key: "x"])) }))
        }

        static func codes(_ answer: HTTPResponse) -> [String] {
            Set((answer.json["warnings"]?.arrayValue ?? []).compactMap { $0["code"]?.stringValue }).sorted()
        }

        @Test("the door warns of what the verifier finds in the package, and of nothing else", arguments: stories)
        func agree(story: Story) async throws {
            try await withMerchant { merchant in
                let admin = try await merchant.client([.admin])
                let type = "/api/v1/order-types/\(Samples.shop)"
                for (path, contents) in story.typeFiles {
                    #expect(await admin.send(.put, "\(type)/assets/\(path)", bytes: contents).status == .ok)
                }
                for (locale, key) in story.typeTexts {
                    let texts = JSONValue.object([key: "x"])
                    #expect(await admin.send(.put, "\(type)/localizations/\(locale)", json: texts).status == .ok)
                }
                let body: JSONValue = ["order": Self.order(story.logo), "localizations": Self.texts(story.texts)]
                let dry = await merchant.client.send(.post, "/api/v1/orders?validateOnly=true", json: body)
                var answer = await merchant.client.send(.post, "/api/v1/orders", json: body)
                #expect(answer.status == .created, "\(answer.text)")
                #expect(Self.codes(dry) == Self.codes(answer))
                for (method, path, bytes) in story.requests {
                    answer = await merchant.client.send(method, Merchant.path("one", path), bytes: bytes)
                    #expect(answer.status == .ok, "\(answer.text)")
                }
                #expect(Self.codes(answer) == story.codes, "\(answer.text)")
                for warning in answer.json["warnings"]?.arrayValue ?? [] { #expect(warning["severity"] == "warning") }
                let package = await merchant.client.send(.get, Merchant.path("one", "/package"))
                let report = PackageVerifier(trust: [TestSigning.authority.root]).verify(package.body.joined)
                let found = Set(report.findings.filter { $0.severity != .note }.map(\.code)).sorted()
                #expect(found == story.codes, "\(report.findings)")
            }
        }

        @Test("a file that the order names as what it can't be is refused for good, however it came")
        func formats() async throws {
            try await withMerchant { merchant in
                let pdf = Array("%PDF-1.4".utf8)
                let order: JSONValue = ["order": Samples.json("one", logo: "logo.png")]
                #expect(await merchant.client.send(.post, "/api/v1/orders", json: order).status == .created)
                for query in ["", "?validateOnly=true"] {
                    let path = Merchant.path("one", "/assets/logo.png" + query)
                    let put = await merchant.client.send(.put, path, bytes: pdf)
                    #expect(put.status == .unprocessableContent, "\(put.text)")
                    #expect(put.code == "invalid-file")
                    #expect(put.json["errors"]?[0]?["code"] == "file-format")
                    #expect(put.places == ["logo.png"])
                }
                // A file of the order that is another thing already.
                let receipt = Merchant.path("one", "/assets/receipt.pdf")
                #expect(await merchant.client.send(.put, receipt, bytes: pdf).status == .ok)
                let patch = await merchant.client.send(
                    .patch,
                    Merchant.path("one"),
                    json: ["merchant": ["logo": "receipt.pdf"]]
                )
                #expect(patch.status == .unprocessableContent, "\(patch.text)")
                #expect(patch.json["errors"]?[0]?["code"] == "file-format")
                let form = Merchant.form([
                    ("order", Samples.json("two", logo: "logo.png").serialized()), ("logo.png", pdf),
                ])
                for query in ["", "?validateOnly=true"] {
                    let path = "/api/v1/orders" + query
                    let create = await merchant.client.send(.post, path, form.headers, bytes: form.body)
                    #expect(create.status == .unprocessableContent, "\(create.text)")
                    #expect(create.json["errors"]?[0]?["code"] == "file-format")
                    #expect(create.places == ["logo.png"])
                }
                #expect(await merchant.client.send(.get, Merchant.path("two")).status == .notFound)
            }
        }

        @Test("the type's routes warn of what its own files and texts have wrong for every order")
        func types() async throws {
            try await withMerchant { merchant in
                let admin = try await merchant.client([.admin])
                let type = "/api/v1/order-types/\(Samples.shop)"
                let first = await admin.send(.put, type + "/localizations/en", json: ["A": "x"])
                #expect(first.json["warnings"] == [], "\(first.text)")
                let second = await admin.send(.put, type + "/localizations/de", json: ["B": "x"])
                #expect(Self.codes(second) == ["strings-keys-differ"], "\(second.text)")
                let refresh = await admin.send(.post, type + "/refresh")
                #expect(Self.codes(refresh) == ["strings-keys-differ"], "\(refresh.text)")
                let mended = await admin.send(.put, type + "/localizations/de", json: ["A": "x"])
                #expect(mended.json["warnings"] == [], "\(mended.text)")
                let plain = await admin.send(.put, type + "/assets/logo.png", bytes: Samples.image(1))
                #expect(plain.json["warnings"] == [], "\(plain.text)")
                let folder = await admin.send(.put, type + "/assets/fr.lproj/logo.png", bytes: Samples.image(1))
                #expect(Self.codes(folder) == ["strings-missing"], "\(folder.text)")
                let similar = await admin.send(.put, type + "/assets/Logo.png", bytes: Samples.image(1))
                #expect(Self.codes(similar) == ["names-differ-in-case", "strings-missing"], "\(similar.text)")
            }
        }
    }
}
