// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("The whole story")
    struct StoryTests {
        @Test("checkout, hand-off, first package, registration, change, list, new package, 304, removal")
        func story() async throws {
            try await withDoors { doors in
                let boundary = "=_b"
                var body: [UInt8] = []
                func part(_ name: String, _ contents: [UInt8]) {
                    body += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8)
                    body += contents + [0x0d, 0x0a]
                }
                part("order", Samples.json("N 1", logo: "logo.png").serialized())
                part("logo.png", Samples.image(7))
                part("de.lproj/order.strings", Array("\"KEY\" = \"Grüße\";\n".utf8))
                body += Array("--\(boundary)--\r\n".utf8)
                let created = await doors.merchant.send(
                    .post,
                    "/api/v1/orders",
                    ["content-type": "multipart/form-data; boundary=\"\(boundary)\""],
                    bytes: body
                )
                #expect(created.status == .created, "\(created.text)")
                let link = try #require(created.headers["location"])
                let handoff = try #require(await doors.merchant.send(.get, link + "/handoff").json["orderDetails"])
                #expect(handoff == created.json["orderDetails"])
                let members = ["authenticationToken", "orderIdentifier", "orderTypeIdentifier", "webServiceURL"]
                #expect(handoff.objectValue?.keys.sorted() == members)
                let token = try #require(handoff["authenticationToken"]?.stringValue)

                let first = await doors.fetch("N 1", token)
                #expect(first.status == .ok)
                let report = verify(first.body.joined)
                #expect(report.isValid, "\(report.findings)")
                #expect(
                    report.files.map(\.path).sorted()
                        == ["de.lproj/order.strings", "logo.png", "manifest.json", "order.json", "signature"]
                )
                try await Self.expectPeersAgree(first.body.joined)
                #expect(await doors.register("phone", "N 1", token).status == .created)
                let tag = try #require(await doors.list("phone").json["lastModified"]?.stringValue)

                let event = await doors.event("e1", "N 1")
                #expect(event.json["applied"] == true, "\(event.text)")
                let type = try OrderTypeIdentifier(Samples.shop)
                let claim = try await doors.shop.store.claimTickets(type, room: 10, floor: nil)
                #expect(claim.tickets.map(\.pushToken.text) == ["00aa"])
                #expect(await doors.list("phone", since: tag).json["orderIdentifiers"] == ["N 1"])
                let date = try #require(first.headers["last-modified"])
                let second = await doors.fetch("N 1", token, ["if-modified-since": date])
                #expect(second.status == .ok)
                let shown = verify(second.body.joined).order
                #expect(shown?["fulfillments"]?[0]?["status"] == "shipped")
                let condition: HTTPFields = ["if-none-match": second.headers["etag"] ?? ""]
                #expect(await doors.fetch("N 1", token, condition).status == .notModified)

                let removed = await doors.device.send(
                    .delete,
                    Doors.registrationPath("phone", "N 1"),
                    doors.authorization(token)
                )
                #expect(removed.status == .ok)
                await doors.event("e2", "N 1", status: "delivered")
                #expect(await doors.list("phone", since: tag).status == .noContent)
                #expect(try await doors.shop.store.claimTickets(type, room: 10, floor: nil).tickets.isEmpty)

                // Nothing secret or personal was logged on the way.
                for secret in [token, "00aa", "phone", "N 1", "Grüße", "wok_", "28.80"] {
                    #expect(!doors.shop.log.text.contains(secret), "\(secret)")
                }
            }
        }

        /// openssl and unzip, which share no code with us, say the same.
        static func expectPeersAgree(_ package: [UInt8]) async throws {
            let folder = "/tmp/walletorders-story-\(Hex.encode(SecureRandom.bytes(4)))"
            try Files.createDirectory(folder, mode: 0o700)
            defer { try? Files.removeTree(folder) }
            try Files.write(package, to: "\(folder)/a.order")
            try Files.write(TestSigning.authority.root.pem(), to: "\(folder)/root.pem")
            let script = """
                cd \(folder) && unzip -tq a.order && unzip -q a.order && openssl cms -verify -binary -inform DER \
                -in signature -content manifest.json -CAfile root.pem -purpose any -out /dev/null && python3 -c '
                import hashlib, json
                manifest = json.load(open("manifest.json"))
                assert sorted(manifest) == ["de.lproj/order.strings", "logo.png", "order.json"], manifest
                for path, digest in manifest.items():
                    assert hashlib.sha256(open(path, "rb").read()).hexdigest() == digest, path
                '
                """
            let result = try await ChildProcess.run("/bin/sh", ["-c", script])
            #expect(result.status == 0, "\(result.text)\(result.errorText)")
        }
    }
}
