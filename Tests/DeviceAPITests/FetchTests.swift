// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import DeviceAPI

extension DeviceAPITests {
    @Suite("Packages")
    struct FetchTests {
        @Test("fetches that no history can tell of are counted")
        func lostReads() async throws {
            try await withDoors { doors in
                let key = try Samples.key("one")
                for _ in 0..<PackageReads.limit + 7 {
                    doors.reads.note(PackageRead(key: key, revision: 1, notModified: true))
                }
                let name = "walletorders_package_reads_dropped_total"
                #expect(doors.shop.metrics.text().contains("\n\(name) 7\n"), "\(doors.shop.metrics.text())")
            }
        }

        @Test("come with Apple's media type, an exact date, a strong tag and nothing else that libraries add")
        func headers() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let answer = await doors.fetch("one", token)
                #expect(answer.status == .ok)
                #expect(answer.headers["content-type"] == "application/vnd.apple.finance.order")
                #expect(answer.headers["last-modified"] == "Fri, 02 Jan 2026 03:04:05 GMT")
                let tag = try #require(answer.headers["etag"])
                #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
                for name in ["content-encoding", "content-transfer-encoding"] {
                    #expect(answer.headers[name] == nil)
                }
                let report = verify(answer.body.joined)
                #expect(report.isValid, "\(report.findings)")
                let order = try #require(report.order)
                #expect(order["authenticationToken"]?.stringValue == token)
                #expect(order["webServiceURL"]?.stringValue == "https://orders.example.com/shop/")
                #expect(order["payment"]?["total"]?["amount"]?.stringValue == "28.80")
                // The same revision has the same bytes and headers each time.
                let again = await doors.fetch("one", token)
                #expect(again.body.joined == answer.body.joined)
                #expect(again.headers == answer.headers)
                let head = await doors.device.send(.head, Doors.orderPath("one"), doors.authorization(token))
                #expect(head.status == .ok)
                #expect(head.headers == answer.headers)
            }
        }

        @Test("are 304 for what was just sent, by tag or date, and whole again after a change in the same second")
        func conditions() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                var first = await doors.fetch("one", token)
                for change in 0..<5 {
                    let date = try #require(first.headers["last-modified"])
                    let tag = try #require(first.headers["etag"])
                    let same: [HTTPFields] = [["if-none-match": tag], ["if-none-match": "\"x\", W/\(tag)"]]
                    for condition in same + (change == 0 ? [["if-modified-since": date]] : []) {
                        let answer = await doors.fetch("one", token, condition)
                        #expect(answer.status == .notModified)
                        #expect(answer.body.isEmpty)
                        #expect(answer.headers["etag"] == tag)
                        #expect(answer.headers["content-type"] == nil)
                    }
                    for condition: HTTPFields in [
                        ["if-modified-since": "0"], ["if-modified-since": "1790000000"],
                        ["if-none-match": "\"other\"", "if-modified-since": date],
                    ] {
                        #expect(await doors.fetch("one", token, condition).status == .ok)
                    }
                    let status = change % 2 == 0 ? "shipped" : "issue"
                    #expect(await doors.event("e\(change)", "one", status: status).json["applied"] == true)
                    for condition: HTTPFields in [["if-none-match": tag], ["if-modified-since": date]] {
                        let next = await doors.fetch("one", token, condition)
                        #expect(next.status == .ok)
                        #expect(next.headers["etag"] != tag)
                        first = next
                    }
                }
            }
        }

        @Test("a wrong token gets no 304 either")
        func unauthorizedCondition() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let tag = try #require(await doors.fetch("one", token).headers["etag"])
                for condition: HTTPFields in [["if-none-match": tag], ["if-none-match": "*"]] {
                    #expect(await doors.fetch("one", "wrong", condition).status == .unauthorized)
                }
            }
        }

        @Test("a renewed certificate changes bytes and tag, not the date, and pushes nothing")
        func renewal() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                _ = await doors.register("phone", "one", token)
                let before = await doors.fetch("one", token)
                let list = await doors.list("phone").json
                doors.shop.types.replace(try TestSigning.settings(shop: TestSigning.renewed))
                let after = await doors.fetch("one", token)
                #expect(after.headers["last-modified"] == before.headers["last-modified"])
                #expect(after.headers["etag"] != before.headers["etag"])
                #expect(after.body.joined != before.body.joined)
                let report = verify(after.body.joined)
                #expect(report.isValid, "\(report.findings)")
                #expect(report.signer?.serialHex == TestSigning.renewed.serial)
                let old = try #require(before.headers["etag"])
                #expect(await doors.fetch("one", token, ["if-none-match": old]).status == .ok)
                let type = try OrderTypeIdentifier(Samples.shop)
                #expect(try await doors.shop.store.claimTickets(type, room: 10, floor: nil).tickets.isEmpty)
                #expect(await doors.list("phone").json == list)
            }
        }

        @Test("another web service address changes bytes and tag")
        func movedAddress() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let before = await doors.fetch("one", token)
                doors.shop.types.replace(try TestSigning.settings(webServiceURL: "https://new.example.com"))
                let after = await doors.fetch("one", token)
                #expect(after.headers["etag"] != before.headers["etag"])
                #expect(verify(after.body.joined).order?["webServiceURL"] == "https://new.example.com")
            }
        }

        @Test("an expired certificate still signs revisions made while it was valid; newer ones are 503, writes go on")
        func expiry() async throws {
            let now = WallTime.now().seconds
            let type = try OrderTypeIdentifier(Samples.shop)
            // Ended an hour ago.
            var template = TestAuthority.leafTemplate(type, now: now - 10 * 86_400)
            template.notAfter = now - 3_600
            let expired = try TestSigning.authority.issue(template)
            try await withDoors(settings: try TestSigning.settings(shop: expired)) { doors in
                let token = try await doors.create("old")
                let late = try await doors.create("late")
                try await doors.shop.database.run(
                    "update orders set made_at = made_at - interval '2 hours' where order_identifier = 'old'"
                )
                #expect(await doors.fetch("old", token).status == .ok)
                let answer = await doors.fetch("late", late)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.code == "package-unavailable")
                #expect(answer.headers["retry-after"] == "300")
                #expect(doors.shop.log.text.contains("expired"))
                // Which order, without its name.
                let mark = try Samples.key("late").mark
                #expect(doors.shop.log.text.contains("\"order\":\"\(mark)\""))
                #expect(await doors.event("e1", "old").json["applied"] == true)
                #expect(await doors.fetch("old", token).status == .serviceUnavailable)
                #expect(await doors.register("phone", "late", late).status == .created)
                doors.shop.types.replace(try TestSigning.settings())
                #expect(await doors.fetch("late", late).status == .ok)
            }
        }

        @Test("before the order is stored it is 401, after it 200; an unserved type is 503")
        func beforeAndAfter() async throws {
            try await withDoors { doors in
                #expect(await doors.fetch("one", "any-token-at-all").status == .unauthorized)
                let token = try await doors.create("one")
                #expect(await doors.fetch("one", token).status == .ok)
                doors.shop.types.replace([])
                #expect(await doors.fetch("one", token).status == .serviceUnavailable)
            }
        }

        @Test("two hundred orders fetched at once are each their own, and correctly signed")
        func crossTalk() async throws {
            try await withDoors { doors in
                let tokens = try await atOnce(200) { try await doors.create("order-\($0)") }
                for _ in 0..<2 {
                    let answers = try await atOnce(200) { index in
                        await doors.fetch("order-\(index)", tokens[index])
                    }
                    for (index, answer) in answers.enumerated() {
                        let report = verify(answer.body.joined)
                        #expect(report.isValid, "\(report.findings)")
                        #expect(report.order?["orderIdentifier"]?.stringValue == "order-\(index)")
                        #expect(report.order?["authenticationToken"]?.stringValue == tokens[index])
                    }
                    #expect(Set(answers.compactMap { $0.headers["etag"] }).count == 200)
                }
            }
        }

        @Test("reads are counted by revision, and told in the history")
        func reads() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let tag = try #require(await doors.fetch("one", token).headers["etag"])
                _ = await doors.fetch("one", token, ["if-none-match": tag])
                _ = await doors.fetch("one", "wrong")
                let shutdown = Signal()
                shutdown.fire()
                try await doors.reads.run(shutdown: shutdown)
                let reads = try #require(try await doors.shop.store.history(try Samples.key("one"))).reads
                #expect(reads.map(\.fullAnswers) == [1])
                #expect(reads.map(\.notModified) == [1])
            }
        }

        @Test("a database that is away is 503 with Retry-After on every route but the log's, which is 200")
        func databaseAway() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                await doors.shop.database.client.close()
                for answer in [
                    await doors.fetch("one", token), await doors.register("phone", "one", token),
                    await doors.list("phone"), await doors.device.send(.get, "/o/token/x.order"),
                    await doors.device.send(.delete, Doors.registrationPath("p", "one"), doors.authorization(token)),
                ] {
                    #expect(answer.status == .serviceUnavailable)
                    #expect(answer.headers["retry-after"] != nil)
                }
                let logged = await doors.device.send(.post, "/shop/v1/log", json: ["logs": ["a line"]])
                #expect(logged.status == .ok)
                doors.reads.note(PackageRead(key: try Samples.key("one"), revision: 1, notModified: true))
                let shutdown = Signal()
                shutdown.fire()
                try await doors.reads.run(shutdown: shutdown)
                // What is lost is told with the reason.
                for words in ["device log lines were not recorded", "reads were not recorded"] {
                    let line = doors.shop.log.text.split(separator: "\n").first { $0.contains("\"\(words)\"") }
                    #expect(line?.contains("the database client has been closed") == true, "\(doors.shop.log.text)")
                }
            }
        }
    }
}
