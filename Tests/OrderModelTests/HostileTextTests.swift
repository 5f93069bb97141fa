// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// What a sender can repeat, or make long, costs no more than its length. Four times as much takes about four times as long
/// where the cost is linear, and 16 times where it is the square.
@Suite struct HostileTextTests {
    @Test func `slashes at the end of a web service's address cost no square`() {
        #expect(URLCheck("https://example.com/v1///").webServiceFaults.map(\.code) == ["web-service-url-version"])
        #expect(URLCheck("https://example.com///").webServiceFaults.isEmpty)
        let growth = Patience.growth { scale in
            let check = URLCheck("https://example.com/" + String(repeating: "/", count: 1_900 * scale))
            for _ in 0..<10 { #expect(check.webServiceFaults.isEmpty) }
        }
        #expect(growth < 8)
    }
}
