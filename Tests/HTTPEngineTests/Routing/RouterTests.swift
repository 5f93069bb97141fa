// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import HTTPEngine

@Suite("Router")
struct RouterTests {
    private static func echo(_ label: String, _ names: [String] = []) -> HTTPHandler {
        { _, parameters in .text(([label] + names.map { parameters[$0] }).joined(separator: "|")) }
    }

    private static func router(tolerant: Bool = false) -> Router {
        var router = Router(tolerant: tolerant)
        router.on(.get, "/", echo("root"))
        router.on(.get, "/orders", echo("list"))
        router.on(.post, "/orders", bodyLimit: 1024, name: "create", echo("create"))
        router.on(.get, "/orders/{type}/{order}", echo("get", ["type", "order"]))
        router.on(.patch, "/orders/{type}/{order}", echo("patch", ["type", "order"]))
        router.on(.get, "/orders/latest/{n}", echo("latest", ["n"]))
        router.on(.put, "/orders/{type}/{order}/assets/{path...}", echo("asset", ["type", "order", "path"]))
        router.on(.post, "/orders/{order}/refresh", echo("refresh", ["order"]))
        return router
    }

    private func answer(_ method: HTTPMethod, _ target: String, tolerant: Bool = false, body: [UInt8] = []) async
        -> HTTPResponse
    {
        await Self.router(tolerant: tolerant).respond(to: HTTPRequest(method: method, target: target, body: body))
    }

    @Test(
        "a path leads to its route",
        arguments: [
            ("GET", "/", "root"), ("GET", "/orders", "list"), ("POST", "/orders", "create"),
            ("GET", "/orders/t/o", "get|t|o"), ("PATCH", "/orders/t/o?x=1", "patch|t|o"),
            ("GET", "/orders/latest/5", "latest|5"), ("PATCH", "/orders/latest/5", "patch|latest|5"),
            ("PUT", "/orders/t/o/assets/logo.png", "asset|t|o|logo.png"),
            ("PUT", "/orders/t/o/assets/en.lproj/logo.png", "asset|t|o|en.lproj/logo.png"),
            ("POST", "/orders/o/refresh", "refresh|o"), ("HEAD", "/orders/t/o", "get|t|o"),
        ]
    )
    func routes(method: String, target: String, body: String) async {
        let response = await answer(HTTPMethod(rawValue: method), target)
        #expect(response.status == .ok)
        #expect(String(decoding: response.body.joined, as: UTF8.self) == body)
    }

    @Test(
        "parameters are decoded exactly once, and an encoded slash stays data",
        arguments: [
            ("/orders/t/a%2Fb", "get|t|a/b"), ("/orders/t/a%252Fb", "get|t|a%2Fb"),
            ("/orders/t/caf%C3%A9", "get|t|café"),
            ("/orders/t/a+b", "get|t|a+b"), ("/orders/t/%20", "get|t| "), ("/%6frders/t/o", "get|t|o"),
            ("/orders/t/..%2F..", "get|t|../.."), ("/orders/t/...", "get|t|..."),
        ]
    )
    func decoding(target: String, body: String) async {
        let response = await answer(.get, target)
        #expect(String(decoding: response.body.joined, as: UTF8.self) == body)
    }

    @Test(
        "a path that two parsers could read differently is 400",
        arguments: [
            "/orders/t/%", "/orders/t/%4", "/orders/t/%GG", "/orders/t/%FF", "/orders/t/%C3", "/orders/t/%ED%A0%80",
            "/orders/t/%C0%AF", "/orders/t/%00", "/orders/t/%0A", "/orders/t/%7F", "/orders/t/..", "/orders/t/.",
            "/orders/../orders", "/orders/%2e%2E/x", "/orders/.%2e/x", "orders", "/orders/t/a b", "/orders/t/ä", "/a#b",
            "",
            "*", "http://example.com/orders",
        ]
    )
    func malformed(target: String) async {
        let response = await answer(.get, target)
        #expect(response.status == .badRequest)
        #expect(response.headers["content-type"] == "application/problem+json")
    }

    @Test("a NUL is refused as what it is")
    func nul() async throws {
        for (target, words) in [("/orders/t/a%00b", "control characters"), ("/orders/t/o?a=%00", "NUL")] {
            let json = try JSONValue(parsing: await answer(.get, target).body.joined)
            #expect(json["detail"]?.stringValue?.contains(words) == true, "\(json)")
        }
    }

    @Test(
        "an encoded traversal never reaches a rest parameter",
        arguments: ["..%2F..%2Fetc", "a%2F..%2Fb", "a//b", "a%2F", "%2Fetc"]
    )
    func traversal(rest: String) async {
        #expect(await answer(.put, "/orders/t/o/assets/\(rest)").status == .notFound)
    }

    @Test(
        "what has no route is 404",
        arguments: ["/nothing", "/orders/", "/orders//o", "//orders", "/orders/t/o/", "/orders/t/o/assets", "/Orders"]
    )
    func notFound(target: String) async { #expect(await answer(.get, target).status == .notFound) }

    @Test("a method without a route is 405 with those that have one")
    func methodNotAllowed() async throws {
        let response = await answer(.delete, "/orders/latest/5")
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers["allow"] == "GET, HEAD, OPTIONS, PATCH")
        let json = try JSONValue(parsing: response.body.joined)
        #expect(json["code"] == "method-not-allowed")
        #expect(await answer(HTTPMethod(rawValue: "get"), "/orders").status == .methodNotAllowed)
    }

    @Test("OPTIONS is answered from what is there")
    func options() async {
        let response = await answer(.options, "/orders")
        #expect(response.status == .noContent)
        #expect(response.headers["allow"] == "GET, HEAD, OPTIONS, POST")
        #expect(await answer(.options, "/nothing").status == .notFound)
        #expect(await answer(.options, "*").status == .noContent)
    }

    @Test(
        "doubled and trailing slashes are read as one only by a tolerant router",
        arguments: ["//orders//t/o", "/orders/t/o/"]
    )
    func tolerance(target: String) async {
        #expect(await answer(.get, target).status == .notFound)
        #expect(await answer(.get, target, tolerant: true).status == .ok)
    }

    @Test("the body limit is known from the head")
    func bodyLimit() async {
        #expect(Self.router().match(.post, "/orders").bodyLimit == 1024)
        #expect(Self.router().match(.post, "/orders").name == "create")
        #expect(Self.router().match(.get, "/nothing").bodyLimit == 0)
        #expect(await answer(.post, "/orders", body: .init(repeating: 0, count: 1025)).status == .contentTooLarge)
    }

    @Test("a query that is not well encoded is 400 before the handler")
    func malformedQuery() async { #expect(await answer(.get, "/orders?a=%zz").status == .badRequest) }

    @Test("a thrown problem becomes its document, any other error a 500 without detail")
    func errors() async throws {
        struct Secret: Error {}
        var router = Router()
        router.on(.get, "/problem") { _, _ in throw Problem(.conflict, code: "taken") }
        router.on(.get, "/secret") { _, _ in throw Secret() }
        #expect(await router.respond(to: HTTPRequest(method: .get, target: "/problem")).status == .conflict)
        let request = HTTPRequest(method: .get, target: "/secret", headers: ["request-id": "r-9"])
        var seen: (any Error)?
        let response = await router.respond(to: request, router.match(.get, "/secret")) { seen = $0 }
        #expect(seen is Secret)
        #expect(response.status == .internalServerError)
        let text = String(decoding: response.body.joined, as: UTF8.self)
        #expect(text.contains("r-9"))
        #expect(!text.contains("Secret"))
    }

    @Test("a path of thousands of segments is refused at once")
    func manySegments() async {
        #expect(await answer(.get, String(repeating: "/a", count: 8000)).status == .badRequest)
    }
}
