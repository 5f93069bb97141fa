// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// What a sender can repeat, or make long, costs no more than its length. Four times as much takes about four times as long
/// where the cost is linear, and 16 times where it is the square.
@Suite struct HostileTextTests {
    /// What four times as many faults may cost when three quarters of them are not worded. Sanitized, to find a fault costs as
    /// much as to word it: there it shows no more than that it is no square.
    private let bound: Double = Patience.factor == 1 ? 3 : 8

    @Test func `slashes at the end of a web service's address cost no square`() {
        #expect(URLCheck("https://example.com/v1///").webServiceFaults.map(\.code) == ["web-service-url-version"])
        #expect(URLCheck("https://example.com///").webServiceFaults.isEmpty)
        let growth = Patience.growth { scale in
            let check = URLCheck("https://example.com/" + String(repeating: "/", count: 1_900 * scale))
            for _ in 0..<10 { #expect(check.webServiceFaults.isEmpty) }
        }
        #expect(growth < 8)
    }

    /// Only the first thousand findings are listed. What it takes to word one may be much more than to find it.
    @Test(arguments: [
        #"{"fulfillmentType":"pickup","barcode":{"format":"qr","message":"1","messageEncoding":"isolatin1"}}"#,
        #"{"fulfillmentType":"shipping","shippedAt":"2000-01-01T00:00:00Z"}"#,
    ])
    func `a fault that is not listed is not worded`(parcel: String) throws {
        let value = try JSONValue(text: parcel)
        func order(_ count: Int) -> JSONObject {
            ["createdAt": "2026-01-01T00:00:00Z", "fulfillments": .array(Array(repeating: value, count: count))]
        }
        func rules(_ count: Int) -> OrderRules {
            OrderRules(order(count), options: .init(), walked: BoundedFindings())
        }
        var listed = rules(BoundedFindings.limit)
        listed.check()
        #expect(listed.findings.count == BoundedFindings.limit + 1)
        /// How many times as long four times as many take.
        func growth(from count: Int) -> Double {
            // Made beforehand: that takes four times as long.
            let (small, large) = (rules(count), rules(count * 4))
            return Patience.growth { scale in
                var rules = scale == 1 ? small : large
                rules.check()
                #expect(rules.findings.count >= min(count * scale, BoundedFindings.limit))
            }
        }
        // To find a fault costs something too, so the bound is a part of what four times as many listed ones take.
        let (listedOnes, others) = (growth(from: BoundedFindings.limit / 4), growth(from: BoundedFindings.limit))
        print("four times as many listed ones take \(listedOnes) times as long, others \(others) times")
        #expect(others < listedOnes * (Patience.factor == 1 ? 0.875 : 2))
    }

    @Test func `a text is only counted while a note has room`() throws {
        let long: JSONValue = .string(String(repeating: "e\u{301}", count: 400))
        func walk(_ count: Int) -> Int {
            let item: JSONValue = ["title": long, "quantity": 1]
            var walk = DocumentWalk(options: .init())
            walk.check(.array(Array(repeating: item, count: count)), .list(.object(.lineItem)))
            return walk.findings.count
        }
        #expect(walk(5) == 5)
        let growth = Patience.growth { scale in
            #expect(walk(BoundedFindings.limit * scale) == BoundedFindings.limit + 1)
        }
        #expect(growth < self.bound)
    }
}
