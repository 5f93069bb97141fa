// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import FoundationEssentials
import Testing

@testable import OrderModel

/// The schema says what the tables say, and finds a fault exactly where the walk does.
@Suite struct OrderSchemaTests {
    private static func schema() throws -> JSONSchema { try JSONSchema(OrderSchema.json, assertsFormats: true) }

    /// The errors of a whole document that a schema can express.
    private static func shapeErrors(_ order: JSONValue) -> [String] {
        OrderDocument.validate(order).findings
            .filter { $0.isError && !OrderSchema.ruleCodes.contains($0.code) }.map(\.summary)
    }

    @Test func `the file in Schemas is what the tables give`() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let file = try #require(FileManager.default.contents(atPath: root + "/Schemas/order.schema.json"))
        let same = String(decoding: file, as: UTF8.self) == OrderSchema.text + "\n"
        #expect(same, "Write it anew: swift run walletorders order schema > Schemas/order.schema.json")
    }

    @Test func `every member has a description, and the members of version 1 and 2 are told apart`() throws {
        #expect(OrderSchema.objects.count == 18)
        for description in OrderSchema.objects + [.order] {
            #expect(description.fields.allSatisfy { $0.meaning.hasSuffix(".") }, "\(description.name)")
        }
        let schema = try Self.schema()
        let order = try JSONValue(text: ValidationTests.whole).replacing("/payment/status", with: nil)
        let fault = try #require(schema.validate(order).first)
        #expect(fault.keyword == "required" && fault.instance.description == "/payment/status")
        #expect(schema.isValid(try order.replacing("/schemaVersion", with: 2)))
    }

    @Test func `a fault in a parcel is told as one, not as a form that does not fit`() throws {
        let schema = try Self.schema()
        let order = try JSONValue(text: ValidationTests.whole)
        func faults(_ pointer: String, _ value: JSONValue?) throws -> [String] {
            schema.validate(try order.replacing(pointer, with: value)).map { "\($0.keyword) \($0.instance)" }
        }
        #expect(try faults("/fulfillments/0/status", "pickedUp") == ["enum /fulfillments/0/status"])
        #expect(try faults("/fulfillments/1/displayName", nil) == ["required /fulfillments/1/displayName"])
        #expect(try faults("/fulfillments/1/fulfillmentType", "mail") == ["enum /fulfillments/1/fulfillmentType"])
        #expect(try faults("/authenticationToken", nil) == ["required /authenticationToken"])
        #expect(try faults("/webServiceURL", nil) == ["required /webServiceURL"])
    }

    @Test(arguments: ValidationTests.cases)
    func `a change is a fault to the schema exactly if the walk calls its shape wrong`(_ change: ValidationCase) throws
    {
        let order = try JSONValue(text: ValidationTests.whole)
            .replacing(change.pointer, with: try change.value.map { try JSONValue(text: $0) })
        #expect(try Self.schema().isValid(order) == Self.shapeErrors(order).isEmpty)
    }

    @Test(arguments: 0..<6)
    func `over thousands of changed orders schema and walk agree`(_ seed: Int) throws {
        let schema = try Self.schema()
        var mutator = try OrderMutator(seed: UInt64(seed))
        var valid = 0
        for _ in 0..<1_000 {
            let order = mutator.next()
            let errors = Self.shapeErrors(order)
            let isValid = schema.isValid(order)
            if isValid { valid += 1 }
            guard isValid != errors.isEmpty else { continue }
            let faults = schema.validate(order, limit: 5).map { "\($0.keyword) \($0.instance)" }
            Issue.record("walk: \(errors), schema: \(faults), order: \(order)")
            return
        }
        #expect((50...950).contains(valid))
    }

    /// One example of each error beyond the schema.
    @Test(arguments: [
        ("bad-number", "/payment/total/amount", "1e400"), ("bad-number", "/lineItems/0/quantity", "1e-400"),
        ("date-out-of-range", "/createdAt", "\"0000-01-01T00:00:00+00:01\""),
        ("duplicate-identifier", "/fulfillments/1/fulfillmentIdentifier", "\"s\""),
        ("file-embedded", "/merchant/logo", "\"data:image/png;base64,AAAA\""),
        ("file-name-too-long", "/merchant/logo", "\"\(String(repeating: "é", count: 128))\""),
        ("identifier-too-long", "/orderIdentifier", "\"\(String(repeating: "é", count: 128))\""),
        ("identifier-unreachable", "/orderIdentifier", "\".\""),
        ("identifier-unreachable", "/orderIdentifier", "\"..\""),
        ("newer-than-target", "/schemaVersion", "2"),
        ("updated-before-created", "/updatedAt", "\"2025-12-31T10:00:00Z\""),
    ])
    func `what no schema can say is an error of a rule`(_ code: String, _ pointer: String, _ value: String) throws {
        let order = try JSONValue(text: ValidationTests.whole).replacing(pointer, with: try JSONValue(text: value))
        let findings = OrderDocument.validate(order, .init(target: .ios16)).findings.filter(\.isError)
        #expect(findings.map(\.code) == [code])
        #expect(OrderSchema.ruleCodes.contains(code))
        #expect(try Self.schema().isValid(order))
    }

    @Test func `the codes beyond the schema are in the catalogue`() {
        for code in OrderSchema.ruleCodes { #expect(FindingCatalogue.meaning(of: code) != nil, "\(code)") }
    }
}
