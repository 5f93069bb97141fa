// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("List of changed orders")
    struct ListTests {
        @Test("asks for no Authorization, and a wrong one makes no difference")
        func withoutAuthorization() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                #expect(await doors.list("phone").status == .noContent)
                _ = await doors.register("phone", "one", token)
                let plain = await doors.list("phone")
                #expect(plain.status == .ok)
                let wrong = await doors.device.send(.get, Doors.listPath("phone"), doors.authorization("wrong"))
                #expect(wrong.json == plain.json)
                // Another device learns nothing.
                #expect(await doors.list("tablet").status == .noContent)
            }
        }

        @Test("its tag is a string under the name lastModified, and leads to what came later only")
        func tags() async throws {
            try await withDoors { doors in
                let tokens = try await atOnce(3) { try await doors.create("order-\($0)") }
                for (index, token) in tokens.enumerated() {
                    _ = await doors.register("phone", "order-\(index)", token)
                }
                let all = await doors.list("phone")
                #expect(all.headers["content-type"] == "application/json")
                #expect(all.json.objectValue?.keys.sorted() == ["lastModified", "orderIdentifiers"])
                let tag = try #require(all.json["lastModified"]?.stringValue)
                let names = all.json["orderIdentifiers"]?.arrayValue?.compactMap(\.stringValue).sorted()
                #expect(names == ["order-0", "order-1", "order-2"])
                #expect(await doors.list("phone", since: tag).status == .noContent)
                await doors.event("e1", "order-1")
                let later = await doors.list("phone", since: tag)
                #expect(later.json["orderIdentifiers"] == ["order-1"])
                let next = try #require(later.json["lastModified"]?.stringValue)
                #expect(await doors.list("phone", since: next).status == .noContent)
                // What is reported without effect is no change.
                await doors.event("e2", "order-1")
                #expect(await doors.list("phone", since: next).status == .noContent)
            }
        }

        @Test(
            "a tag that was never given out means all",
            arguments: [
                "", "x", "-1", "0", "1.5", "99999999999999999999999", "1e3", "9223372036854775807", "%F0%9F%A7%81",
                "%00",
            ]
        )
        func unknownTags(tag: String) async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                _ = await doors.register("phone", "one", token)
                let answer = await doors.list("phone", since: tag)
                // A NUL is no text at all: refused before any route.
                #expect(answer.status == (tag == "%00" ? .badRequest : .ok))
                if tag != "%00" { #expect(answer.json["orderIdentifiers"] == ["one"]) }
            }
        }

        @Test("the parameter's other name in Apple's page is ignored; odd types are empty, odd devices 400")
        func parameters() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                _ = await doors.register("phone", "one", token)
                let tag = try #require(await doors.list("phone").json["lastModified"]?.stringValue)
                let path = Doors.listPath("phone") + "?lastModified=\(tag)"
                #expect(await doors.device.send(.get, path).status == .ok)
                #expect(await doors.device.send(.get, "/v1/devices/phone/registrations/!!").status == .noContent)
                let long = String(repeating: "d", count: 2_000)
                #expect(await doors.list(long).status == .badRequest)
                let head = await doors.device.send(.head, Doors.listPath("phone"))
                #expect(head.status == .ok)
            }
        }
    }
}
