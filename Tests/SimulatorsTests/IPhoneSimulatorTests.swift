// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import ServiceRuntime
import Simulators
import Testing

/// A phone that trusts nothing.
@Suite("iPhone: SimulatorsTests")
struct IPhoneSimulatorTests {
    /// What the web service answers next.
    struct Answer: Sendable {
        var order = "A-1"
        var updatedAt = "2026-01-02T00:00:00Z"
        var type = "application/vnd.apple.finance.order"
        var lastModified: String? = "Fri, 02 Jan 2026 00:00:00 GMT"
        var status = HTTPStatus.ok
        var fault: Fault?
    }

    /// What makes a package one that does not verify.
    enum Fault: Sendable {
        /// A byte of the logo is another than the one that was signed for.
        case flippedByte
        /// Signed by somebody whom the phone does not trust.
        case foreignRoot
        /// Signed for another order type than the order says, by a certificate of the right root.
        case otherType
        /// No archive at all.
        case noise
    }

    private static let foreign = Result {
        try TestAuthority.make(orderType: try OrderTypeIdentifier(APNsRulesTests.topic))
    }

    static func package(_ answer: Answer) throws -> [UInt8] {
        let order = """
            {"schemaVersion":1,"orderTypeIdentifier":"\(APNsRulesTests.topic)","orderIdentifier":"\(answer.order)",\
            "orderType":"ecommerce","orderNumber":"1","createdAt":"2026-01-01T00:00:00Z",\
            "updatedAt":"\(answer.updatedAt)","status":"open","merchant":{"merchantIdentifier":"com.example.shop",\
            "displayName":"Shop","url":"https://www.example.com/","logo":"logo.png"},\
            "orderManagementURL":"https://www.example.com/orders/1"}
            """
        if answer.fault == .noise { return Array("PK but no archive".utf8) }
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]
        let authority = try (answer.fault == .foreignRoot ? self.foreign : APNsRulesTests.authority).get()
        var identity = authority.identity
        var document = order
        if answer.fault == .otherType {
            identity = try authority.identity(for: try OrderTypeIdentifier("order.com.example.other"))
            document = order.replacing(APNsRulesTests.topic, with: "order.com.example.other")
        }
        var bytes = try PackageBuilder(identity: identity).build(
            order: Array(document.utf8),
            files: [PackageFile(path: "logo.png", asset: Asset(png))],
            signingTime: WallTime.now().seconds
        ).bytes
        if answer.fault == .flippedByte {
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: png) })
            bytes[place + png.count - 1] ^= 0xFF
        }
        return bytes
    }

    /// Fetches with one answer after the other; gives the last one's error.
    static func complaint(_ answers: [Answer]) async throws -> String? {
        let authority = try APNsRulesTests.authority.get()
        let next = Locked(answers)
        var router = Router()
        router.on(.get, "/v1/orders/{type}/{order}", name: "package") { _, _ in
            let answer = next.withLock { $0.removeFirst() }
            var headers: HTTPFields = ["content-type": answer.type]
            if let lastModified = answer.lastModified { headers["last-modified"] = lastModified }
            if answer.status == .notModified { return HTTPResponse(.notModified) }
            return HTTPResponse(answer.status, headers: headers, body: .bytes(try Self.package(answer)))
        }
        let loops = try EventLoopGroup(count: 1, name: "phone")
        let logger = Logger(label: "phone", sink: LogSink(form: .text, level: .error) { _ in })
        let server = HTTPServer(
            name: "orders",
            address: .ip(host: "127.0.0.1", port: 0),
            tls: try TLSContext.server(
                certificate: authority.server.certificate,
                chain: authority.server.chain,
                key: authority.server.key,
                alpn: ["h2", "http/1.1"],
                clientCertificates: .none
            ),
            router: router,
            loops: loops,
            logger: logger
        )
        guard case .ip(_, let port) = try server.bind() else { return "no port" }
        let client = HTTPClient(loops: loops, tls: try TLSClientTrust.context(authority.root))
        let phone = IPhoneSimulator(client: client, roots: [authority.root])
        let details = try OrderDetails([
            "orderTypeIdentifier": .string(APNsRulesTests.topic), "orderIdentifier": "A-1",
            "webServiceURL": .string("https://127.0.0.1:\(port)/"), "authenticationToken": "0123456789abcdef",
        ])
        let stop = Signal()
        let complaint = try await withThrowingTaskGroup(of: Void.self) { group -> String? in
            group.addTask { try await server.run(shutdown: stop) }
            var complaint: String?
            for _ in answers {
                do {
                    _ = try await phone.fetch(details)
                    complaint = nil
                } catch { complaint = "\(error)" }
            }
            await client.close()
            stop.fire()
            try await group.waitForAll()
            return complaint
        }
        await loops.shutdown()
        return complaint
    }

    @Test("a right package is taken, and a newer one after it")
    func takes() async throws {
        #expect(try await Self.complaint([Answer(), Answer(updatedAt: "2026-01-03T00:00:00Z")]) == nil)
        #expect(try await Self.complaint([Answer(), Answer(status: .notModified)]) == nil)
        // Ten minutes later, though not as text.
        let zones = [Answer(updatedAt: "2026-01-02T02:59:00+02:00"), Answer(updatedAt: "2026-01-02T02:09:00+01:00")]
        #expect(try await Self.complaint(zones) == nil)
    }

    @Test(
        "what a phone would not take is refused",
        arguments: [
            ([Answer(order: "A-2")], "another order's"),
            ([Answer(fault: .flippedByte)], "a package that verifies"),
            ([Answer(fault: .foreignRoot)], "a package that verifies"),
            ([Answer(fault: .noise)], "a package that verifies"),
            ([Answer(fault: .otherType)], "another order's"),
            ([Answer(), Answer(updatedAt: "2026-01-03T00:00:00Z", fault: .foreignRoot)], "a package that verifies"),
            ([Answer(type: "application/vnd.apple.order")], "media type"),
            ([Answer(lastModified: nil)], "Last-Modified"),
            ([Answer(lastModified: "2026-01-02T00:00:00Z")], "Last-Modified"),
            ([Answer(), Answer(updatedAt: "2026-01-01T00:00:00Z")], "updatedAt of 2026-01-02T00:00:00Z or later"),
            (
                [Answer(updatedAt: "2026-01-02T02:09:00+01:00"), Answer(updatedAt: "2026-01-02T02:59:00+02:00")],
                "updatedAt of 2026-01-02T02:09:00+01:00 or later"
            ),
            ([Answer(status: .notModified)], "for no condition was sent"),
            ([Answer(status: .unauthorized)], "expected 200, got 401"),
        ] as [([Answer], String)]
    )
    func refuses(answers: [Answer], complaint: String) async throws {
        let found = try await Self.complaint(answers)
        #expect(found?.contains(complaint) == true, "\(found ?? "nothing")")
    }
}
