// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import ExactJSON
import HTTPEngine
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("Rate limits of devices")
    struct LimitTests {
        /// Doors with limits whose clock is moved by hand.
        private struct Limited: Sendable {
            let doors: Doors
            let clock: HandClock

            func send(
                _ method: HTTPMethod,
                _ path: String,
                _ token: String = "wrong",
                push: String? = nil,
                from address: String = "192.0.2.1"
            ) async -> HTTPResponse {
                let body = push.map { JSONValue.object(["pushToken": .string($0)]).serialized() } ?? []
                return await self.doors.device.send(
                    method,
                    path,
                    self.doors.authorization(token),
                    bytes: body,
                    from: address
                )
            }
        }

        private func with(
            device: Int = 0,
            address: Int = 0,
            _ body: @escaping @Sendable (Limited) async throws -> Void
        ) async throws {
            try await withShop { shop in
                let clock = HandClock()
                let limits = DeviceLimits(
                    requestsPerDevice: device,
                    requestsPerAddress: address,
                    logger: shop.log.logger,
                    metrics: shop.metrics,
                    clock: clock.read
                )
                try await body(Limited(doors: try await Doors(shop, limits: limits), clock: clock))
            }
        }

        @Test("an order asked for too often from one address is 429 there, and nowhere else, until Retry-After is over")
        func order() async throws {
            try await self.with(device: 3) { limited in
                let token = try await limited.doors.create("one")
                let other = try await limited.doors.create("two")
                let path = Doors.orderPath("one")
                for _ in 0..<3 { #expect(await limited.send(.get, path, token).status == .ok) }
                let refused = await limited.send(.get, path, token)
                #expect(refused.status == .tooManyRequests)
                #expect(refused.code == "rate-limited")
                #expect(refused.json["limit"] == "device")
                #expect(refused.headers["content-type"] == "application/problem+json")
                #expect(refused.headers["retry-after"] == "20")
                #expect(refused.headers["ratelimit-policy"] == "\"device\";q=3;w=60")
                #expect(refused.headers["ratelimit"] == "\"device\";r=0;t=20")
                // HEAD is the same route.
                #expect(await limited.send(.head, path, token).status == .tooManyRequests)
                // Other orders and other addresses go on.
                #expect(await limited.send(.get, Doors.orderPath("two"), other).status == .ok)
                #expect(await limited.send(.get, path, token, from: "192.0.2.2").status == .ok)
                limited.clock.pass(.seconds(19))
                #expect(await limited.send(.get, path, token).headers["retry-after"] == "1")
                limited.clock.pass(.seconds(1))
                let again = await limited.send(.get, path, token)
                #expect(again.status == .ok)
                // What a device is told of a package is the package's.
                #expect(again.headers["ratelimit"] == nil)
            }
        }

        @Test("a 429 tells nobody which orders, devices and links exist, nor which token is right")
        func noOracle() async throws {
            try await self.with(device: 3, address: 40) { limited in
                let token = try await limited.doors.create("one")
                #expect(await limited.doors.register("d1", "one", token).status == .created)
                limited.clock.pass(.seconds(600))
                func said(_ path: String, _ token: String, _ from: String) async -> [String] {
                    var answers: [String] = []
                    for _ in 0..<6 {
                        let answer = await limited.send(.get, path, token, from: from)
                        var document = answer.json.objectValue ?? [:]
                        document.remove("requestId")
                        let fields = answer.headers.filter { $0.name != "date" }.map { "\($0.name): \($0.value)" }
                        answers.append("\(answer.status) \(fields) \(document)")
                    }
                    return answers
                }
                let known = await said(Doors.orderPath("one"), "wrong", "192.0.2.1")
                let unknown = await said(Doors.orderPath("none"), "wrong", "192.0.2.2")
                #expect(known == unknown)
                #expect(known.count { $0.hasPrefix("401") } == 3 && known.count { $0.hasPrefix("429") } == 3)
                // With the right token, the refusals are the same ones.
                let right = await said(Doors.orderPath("one"), token, "192.0.2.3")
                #expect(right.suffix(3) == known.suffix(3))
                // Over the address's limit as well, whatever is asked for.
                for number in 0..<60 { _ = await limited.send(.get, Doors.orderPath("x\(number)"), from: "192.0.2.4") }
                let a = await said(Doors.orderPath("one"), token, "192.0.2.4")
                let b = await said(Doors.orderPath("none"), "wrong", "192.0.2.4")
                #expect(
                    a.prefix(3).allSatisfy { $0.contains("device-address") } && a.allSatisfy { $0.hasPrefix("429") }
                )
                #expect(a == b)
            }
        }

        @Test("a registration counts five, what reads counts one, and each device has its own")
        func registrations() async throws {
            try await self.with(device: 12) { limited in
                let token = try await limited.doors.create("one")
                func register(_ device: String) async -> HTTPStatus {
                    await limited.send(.post, Doors.registrationPath(device, "one"), token, push: "aa").status
                }
                #expect(await register("d1") == .created)
                #expect(await register("d1") == .ok)
                for _ in 0..<2 { #expect(await limited.send(.get, Doors.listPath("d1")).status == .ok) }
                let refused = await limited.send(.post, Doors.registrationPath("d1", "one"), token, push: "aa")
                #expect(refused.status == .tooManyRequests)
                #expect(refused.headers["retry-after"] == "5")
                #expect(await limited.send(.get, Doors.listPath("d1")).status == .tooManyRequests)
                #expect(
                    await limited.send(.delete, Doors.registrationPath("d1", "one"), token).status == .tooManyRequests
                )
                #expect(await register("d2") == .created)
                // Refused registrations were not made, and draw nothing; one request's worth lets one through, on credit.
                limited.clock.pass(.seconds(5))
                #expect(await register("d1") == .ok)
                #expect(await limited.send(.get, Doors.listPath("d1")).headers["retry-after"] == "25")
            }
        }

        @Test(
            "who invents device identifiers is bounded by address; a phone gone wild takes nothing from its neighbours"
        )
        func addresses() async throws {
            try await self.with(device: 10, address: 100) { limited in
                let token = try await limited.doors.create("one")
                // What leads nowhere costs no look-up, and counts for nobody.
                for number in 0..<200 {
                    #expect(await limited.send(.get, "/v1/nothing/\(number)").status == .notFound)
                }
                // One phone asks 500 times: ten are let through, and only those count for the address.
                var statuses: [HTTPStatus] = []
                for _ in 0..<500 { statuses.append(await limited.send(.get, Doors.listPath("wild")).status) }
                #expect(statuses.count { $0 == .tooManyRequests } == 490)
                for phone in 0..<9 {
                    for _ in 0..<10 {
                        #expect(await limited.send(.get, Doors.listPath("p\(phone)")).status == .noContent)
                    }
                }
                let refused = await limited.send(.get, Doors.listPath("invented"))
                #expect(refused.json["limit"] == "device-address")
                #expect(refused.headers["ratelimit-policy"] == "\"device-address\";q=100;w=60")
                // So is everything from there, complaints too.
                #expect(await limited.send(.post, "/v1/log").code == "rate-limited")
                #expect(await limited.send(.get, Doors.orderPath("one"), token).status == .tooManyRequests)
                #expect(await limited.send(.get, "/o/none/a.order").status == .tooManyRequests)
                #expect(await limited.send(.get, Doors.orderPath("one"), token, from: "192.0.2.9").status == .ok)
                // A /64 is one subscriber.
                for number in 0..<100 {
                    _ = await limited.send(.get, Doors.listPath("v6-\(number)"), from: "2001:db8::1:\(number)")
                }
                #expect(
                    await limited.send(.get, Doors.listPath("a"), from: "2001:db8::ffff").status == .tooManyRequests
                )
                #expect(
                    await limited.send(.get, Doors.listPath("a"), from: "2001:db8:0:1::1").status == .noContent
                )
                // Behind a Unix socket nobody knows whose the requests are: counted is only by device.
                for number in 0..<200 {
                    #expect(
                        await limited.send(.get, Doors.listPath("u\(number)"), from: "unix").status == .noContent
                    )
                }
                for _ in 0..<10 { _ = await limited.send(.get, Doors.listPath("u"), from: "unix") }
                #expect(await limited.send(.get, Doors.listPath("u"), from: "unix").code == "rate-limited")
                limited.clock.pass(.seconds(60))
                #expect(await limited.send(.get, Doors.listPath("invented")).status == .noContent)
            }
        }

        @Test("is judged before the database, and tells neither log nor metrics who it was")
        func first() async throws {
            try await self.with(device: 1) { limited in
                let token = try await limited.doors.create("one")
                await limited.doors.shop.database.client.close()
                let secrets = ["0123456789abcdef0123456789abcdef", "192.0.2.77"]
                let path = Doors.listPath(secrets[0])
                #expect(await limited.send(.get, path, token, from: secrets[1]).status == .serviceUnavailable)
                for _ in 0..<20 {
                    #expect(await limited.send(.get, path, token, from: secrets[1]).status == .tooManyRequests)
                }
                let text = limited.doors.shop.log.text + limited.doors.shop.metrics.text()
                #expect(text.contains("walletorders_rate_limited_requests_total{limit=\"device\"} 20\n"))
                #expect(text.split(separator: "clients ask too often").count == 2)
                for secret in secrets + [token] { #expect(!text.contains(secret)) }
            }
        }

        @Test("0 is no limit")
        func off() async throws {
            try await self.with { limited in
                for _ in 0..<300 { #expect(await limited.send(.get, Doors.listPath("d")).status == .noContent) }
            }
        }
    }
}
