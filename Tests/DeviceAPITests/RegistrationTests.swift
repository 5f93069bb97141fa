// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("Registrations")
    struct RegistrationTests {
        @Test("the first is 201, the same again 200, and another push token is in force at once")
        func newPushToken() async throws {
            try await withDoors { doors in
                let token = try await doors.create("ORDER-1")
                #expect(await doors.register("phone", "ORDER-1", token, push: "0a").status == .created)
                #expect(await doors.register("phone", "ORDER-1", token, push: "0a").status == .ok)
                let again = await doors.register("phone", "ORDER-1", token, push: "0b")
                #expect(again.status == .ok)
                #expect(again.body.isEmpty)
                await doors.event("e1", "ORDER-1")
                let type = try OrderTypeIdentifier(Samples.shop)
                let claim = try await doors.shop.store.claimTickets(type, room: 10, floor: nil)
                #expect(claim.tickets.map(\.pushToken.text) == ["0b"])
            }
        }

        @Test("of many devices on one order each has its ticket, also when two send one token")
        func manyDevices() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let statuses = try await atOnce(500) { index in
                    await doors.register("device-\(index)", "one", token, push: index < 2 ? "ff" : "0\(index)").status
                }
                #expect(Set(statuses) == [.created])
                await doors.event("e1", "one")
                let type = try OrderTypeIdentifier(Samples.shop)
                let claim = try await doors.shop.store.claimTickets(type, room: 1_000, floor: nil)
                #expect(claim.tickets.count == 500)
                #expect(claim.tickets.filter { $0.pushToken.text == "ff" }.count == 2)
            }
        }

        @Test("fifty twins at once are one 201 and 49 times 200, and one row")
        func twins() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                for round in 0..<4 {
                    let statuses = try await atOnce(50) { _ in
                        await doors.register("phone-\(round)", "one", token).status
                    }
                    #expect(statuses.filter { $0 == .created }.count == 1)
                    #expect(statuses.filter { $0 == .ok }.count == 49)
                }
                let rows = Statement("t_registrations", "select count(*) from registrations")
                #expect(try await doors.shop.database.number(rows) == 4)
                try await Self.expectInvariants(doors)
            }
        }

        @Test("one device takes eight orders at once, twenty rounds, and every one is 201")
        func eightAtOnce() async throws {
            try await withDoors { doors in
                let tokens = try await atOnce(8) { try await doors.create("order \($0)") }
                for round in 0..<20 {
                    let statuses = try await atOnce(8) { index in
                        await doors.register("phone-\(round)", "order \(index)", tokens[index]).status
                    }
                    #expect(statuses == [HTTPStatus](repeating: .created, count: 8))
                }
                try await Self.expectInvariants(doors)
            }
        }

        @Test("no Content-Type is needed; a body that is none is 400, and only for who has the token")
        func bodies() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let path = Doors.registrationPath("phone", "one")
                let bodies = [
                    "", "{", "[]", "{}", "null", "\u{0}", #"{"pushToken": 12}"#, #"{"pushToken": ""}"#,
                    #"{"pushToken": "../../x"}"#, #"{"pushToken": "0g"}"#, #"{"pushToken": null}"#,
                    #"{"pushToken": "\#(String(repeating: "a", count: 1_001))"}"#,
                    #"{"pushToken": "aa", "pushToken": "bb"}"#, String(repeating: "[", count: 60_000),
                ]
                for body in bodies {
                    let answer = await doors.device.send(
                        .post,
                        path,
                        doors.authorization(token),
                        bytes: Array(body.utf8)
                    )
                    #expect(answer.status == .badRequest, "\(body.prefix(40))")
                    // Too deep is another fault than no JSON.
                    if body.hasPrefix("[[") { #expect(answer.code == "json-too-large") }
                    if body == "{" { #expect(answer.code == "json-syntax") }
                    let stranger = await doors.device.send(
                        .post,
                        path,
                        doors.authorization("wrong"),
                        bytes: Array(body.utf8)
                    )
                    #expect(stranger.status == .unauthorized, "\(body.prefix(40))")
                }
                let long = String(repeating: "a", count: 1_000)
                #expect(await doors.register("phone", "one", token, push: long).status == .created)
                let tooLarge = await doors.device.send(
                    .post,
                    path,
                    doors.authorization(token),
                    bytes: [UInt8](repeating: 0x20, count: (64 << 10) + 1)
                )
                #expect(tooLarge.status == .contentTooLarge)
            }
        }

        @Test("removing is 200 however often, takes the rows away, and nothing is pushed any more")
        func unregister() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                _ = await doors.register("phone", "one", token)
                let path = Doors.registrationPath("phone", "one")
                for _ in 0..<2 {
                    let answer = await doors.device.send(.delete, path, doors.authorization(token))
                    #expect(answer.status == .ok)
                    #expect(answer.body.isEmpty)
                }
                #expect(await doors.list("phone").status == .noContent)
                await doors.event("e1", "one")
                let type = try OrderTypeIdentifier(Samples.shop)
                #expect(try await doors.shop.store.claimTickets(type, room: 10, floor: nil).tickets.isEmpty)
                let rows = Statement("t_devices", "select count(*) from devices")
                #expect(try await doors.shop.database.number(rows) == 0)
                #expect(await doors.device.send(.delete, path, doors.authorization("x")).status == .unauthorized)
            }
        }

        static func expectInvariants(_ doors: Doors) async throws {
            for report in try await doors.shop.store.checkInvariants() {
                #expect(report.violations == 0, "\(report.name)")
            }
        }
    }
}
