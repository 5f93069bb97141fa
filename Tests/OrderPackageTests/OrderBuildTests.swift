// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import Testing

@testable import OrderModel
@testable import OrderPackage

/// Packages straight from orders in code.
@Suite struct OrderBuildTests {
    private func order() throws -> Order { try Order(text: Fixtures.order) }

    private func builder() throws -> PackageBuilder { PackageBuilder(identity: try Fixtures.authority().identity) }

    @Test func `an order in code and its document make the same bytes`() throws {
        let files = try Fixtures.files().filter { $0.path == "logo.png" }
        let direct = try builder().build(try order(), files: files)
        let document = try #require(OrderDocument.validate(text: Fixtures.order).document)
        let byHand = try builder().build(order: document.packageForm(), files: files, signingTime: document.updatedAt)
        #expect(direct.bytes == byHand.bytes)
        #expect(PackageVerifier(trust: [try Fixtures.authority().root]).verify(direct.bytes).isValid)
    }

    @Test func `faults of the order and files that it lacks are told as findings, before anything is signed`() throws {
        func codes(_ order: Order, files: [PackageFile]) throws -> [String] {
            do {
                _ = try builder().build(order, files: files)
                return []
            } catch let error as InvalidOrderError {
                return error.findings.filter(\.isError).map { "\($0.code) \($0.pointer?.description ?? "")" }
            }
        }
        #expect(try codes(try order(), files: []) == ["file-missing /merchant/logo"])
        var broken = try order()
        broken.payment = .init(total: try .init("1", "USD"))
        broken.authenticationToken = try AuthenticationToken("0123456789abcdef")
        #expect(
            Set(try codes(broken, files: [])) == ["missing-member /payment/status", "missing-member /webServiceURL"]
        )
    }

    @Test func `an order of another type is not signed`() throws {
        var other = try order()
        other.orderTypeIdentifier = try OrderTypeIdentifier("order.com.example.other")
        other.merchant.logo = nil
        #expect { try builder().build(other) } throws: { ($0 as? OrderPackageError)?.code == .orderTypeMismatch }
    }

    @Test func `unknown fields go into the package when the options allow them`() throws {
        var order = try order()
        order.merchant.logo = nil
        order.unknownFields = ["giftNote": "x"]
        #expect(throws: InvalidOrderError.self) { try builder().build(order) }
        let package = try builder().build(order, options: .init(unknownMembers: .accept))
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.isValid && report.order?["giftNote"] == "x")
    }
}
