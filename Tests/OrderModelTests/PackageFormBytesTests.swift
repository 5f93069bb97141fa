// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

@Suite("Package form, byte by byte")
struct PackageFormBytesTests {
    /// Changes that leave a document readable: members in another order, unknown and null ones, texts that need escapes.
    private struct Shuffle {
        var generator: SeededGenerator

        mutating func value(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let object):
                // What names the document has to stay, or there is none.
                let kept: Set = ["orderTypeIdentifier", "orderIdentifier", "createdAt"]
                var members = object.members.map { ($0.name, kept.contains($0.name) ? $0.value : self.value($0.value)) }
                if Int.random(in: 0..<3, using: &self.generator) == 0 { members.shuffle(using: &self.generator) }
                let extra = Int.random(in: 0..<8, using: &self.generator)
                let place = Int.random(in: 0...members.count, using: &self.generator)
                switch extra {
                case 0: members.insert(("x-\"unknown\"\n", .array([.null, .bool(true), 7, "é\u{1}"])), at: place)
                case 1: members.insert(("name", .null), at: place)
                case 2: members.insert(("", .object(["b": 1, "a": .null])), at: place)
                case 3: members.insert(("updatedat", "case counts"), at: place)
                default: break
                }
                return .object(JSONObject(members))
            case .array(let values): return .array(values.map { self.value($0) })
            case .string(let text):
                let escape = ["", "", "", "\\", "\"", "\u{1F}", "ü", "\u{7F}", "/"]
                let chosen = escape[Int.random(in: 0..<escape.count, using: &self.generator)]
                return .string(text.count > 12 ? text + chosen : text)
            default: return value
            }
        }
    }

    @Test("What is written straight into bytes is what the rewritten tree comes to, whatever the members' order")
    func oracle() throws {
        let texts =
            try ["order-bakery-pickup.json", "order-vapor-minimal.json"].map { try Fixture.bytes($0) }
            + [Array(ValidationTests.whole.utf8)]
        for text in texts {
            let sent = try JSONValue(parsing: text)
            for round in 0..<400 {
                var shuffle = Shuffle(generator: SeededGenerator(seed: UInt64(round + 1)))
                let document = try OrderDocument.trusted(round == 0 ? sent : shuffle.value(sent))
                let pairs: [(String?, String?)] = [
                    (nil, nil), ("https://wallet.example.com/", "0123456789abcdef"), ("https://a.example.com", nil),
                ]
                for (url, token) in pairs {
                    let expected = PackageFormOracle.bytes(
                        document,
                        updatedAt: Int64(round) * 86_399,
                        webServiceURL: url,
                        authenticationToken: token
                    )
                    let made = document.packageForm(
                        updatedAt: Int64(round) * 86_399,
                        webServiceURL: url,
                        authenticationToken: token
                    )
                    #expect(made == expected, "round \(round): \(String(decoding: made, as: UTF8.self))")
                    #expect(try JSONValue(parsing: made) == JSONValue(parsing: expected))
                }
            }
        }
    }

    @Test("Every field is found at its place, and nothing that is spelt otherwise")
    func positions() {
        let descriptions: [ObjectDescription] = [
            .order, .merchant, .location, .lineItem, .payment, .paymentTransaction, .paymentMethod,
            .shippingFulfillment, .pickupFulfillment, .recipient, .orderProvider, .summaryItem, .address, .returnInfo,
            .application, .barcode, .currencyAmount, .customer,
        ]
        for description in descriptions {
            for (position, field) in description.fields.enumerated() {
                #expect(description.position(of: field.name) == position)
                let others = [
                    field.name + "s", String(field.name.dropLast()), field.name.uppercased(), "a" + field.name,
                ]
                for other in others where !description.fields.contains(where: { $0.name == other }) {
                    #expect(description.position(of: other) == nil, "\(other)")
                }
            }
            #expect(description.position(of: "") == nil)
        }
    }
}
