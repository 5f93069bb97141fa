// SPDX-License-Identifier: Apache-2.0

// Fuzzes the whole verifier over changed good packages: scripts/fuzz package. The keys are new in each run, but lie in the
// same places.
import Cryptography
import OrderModel
import OrderPackage

private struct Fixture {
    let package: [UInt8]
    let verifier: PackageVerifier

    init() throws {
        let now: Int64 = 1_767_225_600
        let order = """
            {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-1",\
            "orderType":"ecommerce","orderNumber":"1","createdAt":"2026-01-01T00:00:00Z",\
            "updatedAt":"2026-01-01T00:00:00Z","status":"open","merchant":{"merchantIdentifier":"com.example.shop",\
            "displayName":"Shop","url":"https://www.example.com/"},\
            "orderManagementURL":"https://www.example.com/orders/1"}
            """
        let authority = try TestAuthority.make(orderType: try OrderTypeIdentifier("order.com.example.shop"), now: now)
        let strings = Array(#""Shop" = "b";"#.utf8)
        package = try PackageBuilder(identity: authority.identity).build(
            order: Array(order.utf8),
            files: [
                try PackageFile(path: "en.lproj/order.strings", contents: strings)
            ],
            signingTime: now
        ).bytes
        verifier = PackageVerifier(trust: [authority.root])
    }
}

private let fixture = try? Fixture()

/// Verifies a changed package. What is signed can't be changed unseen.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPackage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let fixture else { preconditionFailure("no package") }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let bytes = Edits.apply(input[...], to: fixture.package)
    let report = fixture.verifier.verify(bytes)
    if bytes == fixture.package { precondition(report.findings.isEmpty, "a good package was refused") }
    for finding in report.findings {
        precondition(!finding.message.isEmpty && finding.fix?.isEmpty == false, "a finding without advice")
    }
    return 0
}
