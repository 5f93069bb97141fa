// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import Glibc
import OrderModel
import OrderPackage
import ServiceRuntime

/// How fast packages are built: a 3 KB order, encoded anew each time, and three images of 20 KB.
enum SignBench {
    /// Runs one measurement and prints packages a second of CPU time, or of the clock where threads are compared.
    ///
    /// - Parameters:
    ///   - part: `cached`, `uncached`, `encrypted`, `threads` or `verify`.
    ///   - folder: where the identities are: `identity.pem`, `identity.key`, `locked.key` (passphrase `bench`),
    ///     `intermediate.pem`, `root.pem`.
    static func run(_ part: String, _ folder: String, milliseconds: Int) async throws {
        var files = SigningIdentity.Files(
            identity: folder + "/identity.pem",
            key: folder + (part == "encrypted" ? "/locked.key" : "/identity.key"),
            intermediates: [folder + "/intermediate.pem"]
        )
        if part == "encrypted" { files.passphrase = Secret(Array("bench".utf8)) }
        let identity = try SigningIdentity.load(files)
        let builder = PackageBuilder(identity: identity)
        let document = try self.document()
        let images = (0..<3).map { Self.image(UInt8($0)) }
        let time = WallTime.now().seconds
        let assets = try images.map { try Asset($0) }
        let cached = { @Sendable (number: Int) throws -> Int in
            let files = try assets.enumerated().map {
                try PackageFile(path: "image\($0.offset).png", asset: $0.element)
            }
            let package = try builder.build(
                document.packageForm(
                    updatedAt: time + Int64(number),
                    webServiceURL: "https://wallet.example.com/",
                    authenticationToken: "0123456789abcdef0123456789abcdef"
                ),
                of: document,
                files: files,
                signingTime: time + Int64(number)
            )
            return package.byteCount
        }
        switch part {
        case "cached", "encrypted": try self.measure(milliseconds, cached)
        case "uncached":
            try self.measure(milliseconds) { number in
                let files = try images.enumerated().map {
                    try PackageFile(path: "image\($0.offset).png", asset: Asset($0.element))
                }
                return try builder.build(
                    document.packageForm(updatedAt: time, webServiceURL: nil, authenticationToken: nil),
                    of: document,
                    files: files,
                    signingTime: time + Int64(number)
                ).byteCount
            }
        case "threads": try await self.threads(milliseconds, cached)
        case "verify":
            let files = try assets.enumerated().map {
                try PackageFile(path: "image\($0.offset).png", asset: $0.element)
            }
            let bytes = try builder.build(document.packageForm(), of: document, files: files, signingTime: time).bytes
            let verifier = PackageVerifier(trust: try SigningIdentity.readCertificates(folder + "/root.pem"))
            let report = verifier.verify(bytes)
            guard report.isValid else { throw UsageError("the package is not valid: \(report.findings)") }
            try self.measure(milliseconds) { _ in verifier.verify(bytes).files.count }
        default: throw UsageError("sign has no part \(part)")
        }
    }

    /// Runs until the time is over; prints operations a second of this thread's CPU time.
    private static func measure(_ milliseconds: Int, _ body: (Int) throws -> Int) throws {
        for number in 0..<20 { _ = try body(number) }
        let start = self.cpu()
        var count = 0
        var now = start
        while now - start < Double(milliseconds) / 1_000 {
            for _ in 0..<20 {
                guard try body(count) > 0 else { throw UsageError("nothing was made") }
                count += 1
            }
            now = self.cpu()
        }
        print(Double(count) / (now - start))
    }

    /// One thread and two, in turns, by the clock; prints how many times as much two do.
    private static func threads(
        _ milliseconds: Int,
        _ body: @escaping @Sendable (Int) throws -> Int
    ) async throws {
        let pool = BlockingThreads(limit: 2)
        func round(_ count: Int) async throws -> Double {
            let end = self.seconds(CLOCK_MONOTONIC) + Double(milliseconds) / 1_000
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await pool.run {
                            var made = 0
                            while self.seconds(CLOCK_MONOTONIC) < end { made += try body(made) > 0 ? 1 : 0 }
                            return made
                        }
                    }
                }
                return Double(try await group.reduce(0, +))
            }
        }
        _ = try await round(2)
        var ratios: [Double] = []
        for _ in 0..<7 {
            let one = try await round(1)
            ratios.append(try await round(2) / one)
        }
        print(ratios.sorted()[3])
    }

    private static func cpu() -> Double { self.seconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A PNG by its headers, of 20 KB.
    private static func image(_ seed: UInt8) -> [UInt8] {
        let start: [UInt8] = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 44, 0, 0, 1,
            44,
            8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4E, 0x15, 0x49, 0x44, 0x41, 0x54,
        ]
        let body = (0..<19_989).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed }
        return start + body + [0, 0, 0, 0, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
    }

    /// An order of about 3 KB that names the three images.
    private static func document() throws -> OrderDocument {
        let items = (0..<9).map { number in
            """
            {"title":"Sourdough loaf number \(number), baked this morning","subtitle":"Organic rye and wheat, 750 g",\
            "quantity":\(number + 1),"image":"image\(number % 3).png","price":{"amount":"\(number).95","currency":"EUR"},\
            "sku":"BREAD-000\(number)"}
            """
        }
        let text = """
            {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"2026-000123",\
            "orderNumber":"2026-000123","orderType":"ecommerce","status":"open","createdAt":"2026-01-02T03:04:05Z",\
            "updatedAt":"2026-01-02T03:04:05Z","orderManagementURL":"https://shop.example.com/orders/2026-000123",\
            "merchant":{"displayName":"Example Bakery","merchantIdentifier":"merchant.com.example.shop",\
            "url":"https://shop.example.com/","logo":"image0.png"},\
            "payment":{"status":"paid","total":{"amount":"45.05","currency":"EUR"}},\
            "lineItems":[\(items.joined(separator: ","))],\
            "fulfillments":[{"fulfillmentType":"shipping","fulfillmentIdentifier":"p1","status":"onTheWay",\
            "carrier":"Example Post","trackingNumber":"EP123456789","trackingURL":"https://post.example.com/EP123456789",\
            "shippedAt":"2026-01-03T10:00:00Z","lineItems":[\(items.prefix(2).joined(separator: ","))]}]}
            """
        let (document, findings) = OrderDocument.validate(text: Array(text.utf8))
        guard let document else { throw UsageError("the bench's order is not valid: \(findings)") }
        return document
    }
}
