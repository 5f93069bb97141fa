// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ServiceRuntime
import Testing
import ZipFiles

@testable import OrderModel
@testable import OrderPackage

/// What most tests start from: one authority, one order, some files.
enum Fixtures {
    /// 2026-01-01T00:00:00Z, shortly after the authority's certificates become valid.
    static let now: Int64 = 1_767_225_600

    private static let made = Result { try TestAuthority.make(orderType: orderType(), now: now) }

    /// The authority that all tests share; making keys takes its time.
    static func authority() throws -> TestAuthority { try made.get() }

    static func orderType(_ text: String = "order.com.example.shop") throws -> OrderTypeIdentifier {
        try OrderTypeIdentifier(text)
    }

    /// A small valid order that names `logo.png`.
    static let order = Array(
        """
        {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-1",\
        "orderType":"ecommerce","orderNumber":"1","createdAt":"2026-01-01T00:00:00Z",\
        "updatedAt":"2026-01-01T00:00:00Z","status":"open","merchant":{"merchantIdentifier":"com.example.shop",\
        "displayName":"Shop","url":"https://www.example.com/","logo":"logo.png"},\
        "orderManagementURL":"https://www.example.com/orders/1"}
        """.utf8
    )

    /// A PNG of 300 by 300 pixels by its headers, of `count` bytes behind its signature where that is enough for them.
    static func png(_ count: Int = 20_000, seed: UInt8 = 1) -> [UInt8] {
        let filler = (0..<max(1, count - 49)).map { UInt8(truncatingIfNeeded: $0 * 31) ^ seed }
        return Picture.png(300, 300, chunks: [("IDAT", filler)])
    }

    static func files() throws -> [PackageFile] {
        [
            try PackageFile(path: "logo.png", asset: Asset(png())),
            try PackageFile(path: "Zebra.jpg", asset: Asset([0xFF, 0xD8, 0xFF, 0xE0] + png(900))),
        ]
    }

    static func package(
        order: [UInt8] = order,
        files: [PackageFile]? = nil,
        at time: Int64 = now
    ) throws -> OrderPackage {
        try PackageBuilder(identity: authority().identity)
            .build(order: order, files: files ?? Self.files(), signingTime: time)
    }

    /// A source folder of the order, its logo and further files.
    static func folder(_ files: [(String, [UInt8])] = []) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(order, to: "order.json")
        try folder.write(png(300), to: "logo.png")
        for (path, contents) in files { try folder.write(contents, to: path) }
        return folder
    }
}

/// A folder for one test, removed with its owner.
final class TemporaryFolder: Sendable {
    let path = "/tmp/orderpackage-\(SecureRandom.uuid())"

    init() throws { try Files.createDirectory(path, mode: 0o700) }

    deinit { try? Files.removeTree(path) }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = "\(path)/\(name)"
        if let slash = file.lastIndex(of: "/") { try Files.createDirectory(String(file[..<slash])) }
        try Files.write(bytes, to: file)
        return file
    }
}

/// Runs a command line and gives its status and what it printed.
func shell(_ command: String) async throws -> (status: Int32, output: String) {
    let result = try await ChildProcess.run("/bin/bash", ["-c", "(\(command)) 2>&1"])
    return (result.status, String(decoding: result.output, as: UTF8.self))
}
