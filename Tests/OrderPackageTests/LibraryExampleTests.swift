// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import OrderModel
import OrderPackage
import Testing

/// The example for Swift developers, as it stands in README.md.
@Suite struct LibraryExampleTests {
    @Test func `an order made in code is signed and verifies, in memory`() throws {
        // README: begin
        let order = try Order(
            orderTypeIdentifier: .init("order.com.example.shop"),
            orderIdentifier: .init("1001"),
            createdAt: .init("2026-01-31T18:00:00+01:00"),
            status: .open,
            merchant: .init(
                merchantIdentifier: .init("merchant.com.example.shop"),
                displayName: "Example Shop",
                url: .init("https://www.example.com/")
            ),
            orderManagementURL: .init("https://www.example.com/orders/1001"),
            lineItems: [.init(title: "Bread", quantity: 2, price: .init("4.90", "EUR"))]
        )
        let authority = try TestAuthority.make(orderType: order.orderTypeIdentifier)
        let package = try PackageBuilder(identity: authority.identity).build(order)
        let report = PackageVerifier(trust: [authority.root]).verify(package.bytes)
        print(report.isValid, package.byteCount)
        // README: end
        #expect(report.isValid, "\(report.findings)")
        #expect(try Order(#require(report.document)).lineItems == order.lineItems)
    }

    @Test func `the README shows this very example`() throws {
        let source = try text(#filePath)
        let readme = try text(
            #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
                + "/README.md"
        )
        let section = try #require(readme.firstRange(of: "\n## In a Swift program\n"))
        let fence = try #require(readme[section.upperBound...].firstRange(of: "```swift\n"))
        let end = try #require(readme[fence.upperBound...].firstRange(of: "\n```"))
        let shown = readme[fence.upperBound..<end.lowerBound].split(separator: "\n")
        let lines = source.split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasSuffix("// README: begin") })
        let last = try #require(lines.firstIndex { $0.hasSuffix("// README: end") })
        let imports = shown.filter { $0.hasPrefix("import ") }
        #expect(!imports.isEmpty && imports.allSatisfy { lines.contains($0) })
        #expect(shown.dropFirst(imports.count) == ArraySlice(lines[(first + 1)..<last].map { $0.dropFirst(8) }))
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try #require(FileManager.default.contents(atPath: path), "\(path)"), as: UTF8.self)
    }
}
