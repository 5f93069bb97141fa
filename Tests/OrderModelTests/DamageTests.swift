// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// Good orders and events with random damage: every check has to end in findings, never in a trap, and whatever still
/// passes has to make a package that passes, too.
@Suite struct DamageTests {
    private static let strange: [JSONValue] = [
        .null, true, 0, -1, "", "x", "open", "cancelled", "USD", "1", "-5", "\u{0}", "2026-01-01T10:00:00.5+01:00",
        "P1D",
        "https://", "😀", [], .object(JSONObject()), [.null], ["status": "open"],
        .string(String(repeating: "9", count: 32)), .string("0." + String(repeating: "0", count: 29) + "1"),
        .number(JSONNumber(.max)), .number(JSONNumber("1e400") ?? JSONNumber(0)),
        .number(JSONNumber("-0.1e-30") ?? JSONNumber(0)),
    ]

    /// Replaces, removes or adds something somewhere.
    static func damaged(_ value: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
        switch value {
        case .object(var object) where !object.isEmpty && random.chance(85):
            let name = random.one(of: object.keys)
            if random.chance(10) {
                object.remove(name)
            } else if random.chance(6) {
                object[random.one(of: ["status", "x", "fulfillmentType", "amount", "null"])] = random.one(of: strange)
            } else if let member = object[name] {
                object[name] = damaged(member, &random)
            }
            return .object(object)
        case .array(var elements) where !elements.isEmpty && random.chance(85):
            let index = Int(random.next() % UInt64(elements.count))
            if random.chance(10) {
                elements.append(elements[index])
            } else {
                elements[index] = damaged(elements[index], &random)
            }
            return .array(elements)
        default: return random.one(of: strange)
        }
    }

    @Test func `a damaged order ends in findings, and a valid one makes a valid package`() throws {
        let whole = try JSONValue(text: ValidationTests.whole)
        var random = SeededGenerator(seed: 42)
        var valid = 0
        for round in 0..<3000 {
            var order = whole
            for _ in 0...(round % 3) { order = Self.damaged(order, &random) }
            let (document, findings) = OrderDocument.validate(order)
            #expect((document == nil) == findings.contains(where: \.isError))
            #expect(findings.allSatisfy { FindingCatalogue.meaning(of: $0.code) != nil && $0.fix != nil })
            guard let document else { continue }
            valid += 1
            let bytes = document.packageForm()
            let again = try #require(OrderDocument.validate(text: bytes).document, "\(order)")
            #expect(again.packageForm() == bytes)
            // Nothing that only the writer puts right is left.
            let codes = Set(OrderDocument.validate(text: bytes).findings.map(\.code))
            #expect(codes.isDisjoint(with: ["fractional-seconds", "numeric-string", "null-member"]))
        }
        #expect(valid > 100)
    }

    @Test func `a damaged event ends in findings or in an entry that any order can take`() throws {
        let events = try [
            #"{"eventIdentifier":"e","occurredAt":"2026-01-01T10:00:00Z","fulfillment":{"fulfillmentIdentifier":"a","fulfillmentType":"shipping","status":"shipped","recipient":{"address":{"countryCode":"US"}},"lineItems":[{"title":"A","quantity":1}]}}"#,
            #"{"eventIdentifier":"e","order":{"status":"completed","customer":{"givenName":"N"},"lineItems":[{"title":"A","quantity":1}]}}"#,
            #"{"eventIdentifier":"e","payment":{"status":"paid","total":{"amount":"5","currency":"USD"}}}"#,
            #"{"eventIdentifier":"e","return":{"returnIdentifier":"r","status":"open"},"correction":true}"#,
        ].map { try JSONValue(text: $0) }
        var random = SeededGenerator(seed: 43)
        var taken = 0
        for _ in 0..<3000 {
            let json = Self.damaged(random.one(of: events), &random)
            let (event, findings) = OrderEvent.parse(json)
            #expect((event == nil) == findings.contains(where: \.isError))
            guard let event else { continue }
            taken += 1
            let entry = LogEntry(event, occurredAt: 1)
            var log = OrderLog(base: try Story.base(), options: .init(completeWhenFulfilled: true))
            let answer = log.append(entry)
            #expect(answer.isApplied == !answer.changed.isEmpty)
            #expect(OrderDocument.validate(log.document, .init(isServiceFilled: true)).document != nil, "\(json)")
            let stored = try LogEntry(
                kind: .event,
                identifier: entry.identifier,
                occurredAt: 1,
                body: JSONValue(parsing: json.serialized())
            )
            #expect(stored == entry)
        }
        #expect(taken > 300)
    }
}
