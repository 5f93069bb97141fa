// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import StoreTestSupport
import Testing

extension DeviceAPITests {
    @Suite("Authorization")
    struct AuthorizationTests {
        @Test("is the scheme AppleOrder in any case and the order's own token; all else is one 401")
        func headers() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let other = try await doors.create("two")
                for good in ["AppleOrder \(token)", "appleorder \(token)", "APPLEORDER   \(token)"] {
                    let answer = await doors.device.send(.get, Doors.orderPath("one"), ["authorization": good])
                    #expect(answer.status == .ok, "\(good.prefix(11))")
                }
                let bad: [String?] = [
                    nil, "", " ", "AppleOrder", "AppleOrder ", token, "Bearer \(token)", "ApplePass \(token)",
                    "AppleOrder\(token)", "AppleOrder \(token)x", "AppleOrder \(token.dropLast())",
                    "AppleOrder \(other)", "AppleOrder \(token) \(token)", "AppleOrder \(token.uppercased())",
                    "AppleOrder \(String(repeating: "a", count: 5_000))", "AppleOrder \"\(token)\"", "AppleOrder \u{0}",
                    "AppleOrder é", "Basic YTpi",
                ]
                let unknown = await doors.fetch("none", token)
                for value in bad {
                    var headers = HTTPFields()
                    headers["authorization"] = value
                    let answer = await doors.device.send(.get, Doors.orderPath("one"), headers)
                    expectSame(answer, unknown)
                }
            }
        }

        @Test("unknown, erased, malformed and foreign orders are told apart from a wrong token by nothing")
        func unknownOrders() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let erased = try await doors.create("gone")
                #expect(try await doors.shop.store.erase(try Samples.key("gone")))
                let wrong = await doors.fetch("one", "wrong")
                #expect(wrong.status == .unauthorized)
                #expect(wrong.headers["www-authenticate"] == "AppleOrder")
                expectSame(await doors.fetch("gone", erased), wrong)
                let paths = [
                    Doors.orderPath("none"), Doors.orderPath("one", type: Samples.bakery),
                    Doors.orderPath("one", type: "no.such.type"), Doors.orderPath("one", type: "!!"),
                    Doors.orderPath(String(repeating: "x", count: 300)), Doors.orderPath("ONE"),
                    Doors.orderPath("o\u{301}ne"), Doors.orderPath("-", type: "order.invalid"),
                ]
                for path in paths {
                    expectSame(await doors.device.send(.get, path, doors.authorization(token)), wrong)
                }
                // Registering and removing say the same words.
                for order in ["one", "none", "gone"] {
                    expectSame(await doors.register("phone", order, "wrong"), wrong)
                    let path = Doors.registrationPath("phone", order)
                    expectSame(await doors.device.send(.delete, path, doors.authorization("wrong")), wrong)
                }
            }
        }

        @Test("identifiers of any text work, each byte for byte its own")
        func identifiers() async throws {
            try await withDoors { doors in
                let orders = [
                    "ORDER-1", "order 1", "a/b", "100%", "ü", "u\u{308}", "🧁", "...", "%2F", "a?b#c&d=e", "+", "'\"\\",
                ]
                for order in orders {
                    let token = try await doors.create(order)
                    let answer = await doors.fetch(order, token)
                    #expect(answer.status == .ok, "\(order)")
                    #expect(verify(answer.body.joined).document?.orderIdentifier.text == order)
                    #expect(await doors.register("phone", order, token).status == .created, "\(order)")
                }
                let listed = await doors.list("phone").json["orderIdentifiers"]?.arrayValue?.compactMap(\.stringValue)
                #expect(listed?.count == orders.count)
            }
        }

        @Test("paths under the web service URL's prefix, at the root and with doubled slashes are the same")
        func paths() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let rest = "v1/orders/\(Samples.shop)/one"
                for path in ["/shop/\(rest)", "/\(rest)", "/shop//\(rest)", "//\(rest)", "/shop/\(rest)/"] {
                    #expect(await doors.device.send(.get, path, doors.authorization(token)).status == .ok, "\(path)")
                }
                #expect(await doors.device.send(.get, "/shop/v2/orders/x/y").status == .notFound)
                let answer = await doors.device.send(.put, "/v1/orders/x/y")
                #expect(answer.status == .methodNotAllowed)
                #expect(answer.headers["allow"] == "GET, HEAD, OPTIONS")
            }
        }
    }
}

/// The two answers can't be told apart.
func expectSame(_ left: HTTPResponse, _ right: HTTPResponse, _ location: SourceLocation = #_sourceLocation) {
    func plain(_ answer: HTTPResponse) -> JSONValue {
        var document = answer.json.objectValue ?? JSONObject()
        document.remove("requestId")
        return .object(document)
    }
    #expect(left.status == right.status, sourceLocation: location)
    #expect(left.headers == right.headers, sourceLocation: location)
    #expect(plain(left) == plain(right), sourceLocation: location)
}
