// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience

@testable import OrderModel

/// Makes random valid documents out of the tables of Apple's objects, in every spelling that validation passes.
struct DocumentGenerator {
    var random: SeededGenerator
    /// How often an optional field is there, in percent.
    var fullness: UInt64 = 50
    /// How often an object gets members that no table has, in percent.
    var strangeness: UInt64 = 0
    private var count = 0
    private var lastFulfillment = FulfillmentType.pickup
    private var version = 1
    private var currency = "USD"

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A whole order of either version.
    mutating func order() -> JSONValue {
        version = random.chance(50) ? 1 : 2
        currency = random.one(of: ["USD", "EUR", "JPY", "KWD"])
        guard case .object(var order) = object(.order) else { return .null }
        let moments = [Int64(random.next() % 1_000_000), 1_000_000 + Int64(random.next() % 1_000_000)]
        order["createdAt"] = .string(dateTime(1_700_000_000 + moments[0]))
        order["updatedAt"] = .string(dateTime(1_700_100_000 + moments[1]))
        if order.contains("webServiceURL") != order.contains("authenticationToken") {
            order["webServiceURL"] = nil
            order["authenticationToken"] = nil
        }
        return .object(order)
    }

    private mutating func object(_ table: ObjectDescription) -> JSONValue {
        var members: [(String, JSONValue)] = []
        for field in table.fields where field.isRequired(inVersion: version) || random.chance(fullness) {
            members.append((field.name, value(field.kind, field.name)))
        }
        // A null member of an optional field counts as none.
        if let field = table.fields.first(where: { $0.presence == .optional }), random.chance(strangeness),
            !members.contains(where: { $0.0 == field.name })
        {
            members.append((field.name, .null))
        }
        if random.chance(strangeness) { members.append(("x-note", random.one(of: ["s", 1, .null, ["a": [2]]]))) }
        if random.chance(strangeness) { members.append(("Status", .bool(true))) }
        members.shuffle(using: &random)
        return .object(JSONObject(members))
    }

    private mutating func value(_ kind: FieldKind, _ name: String) -> JSONValue {
        switch kind {
        case .text: return .string(random.one(of: ["Text", "é", "e\u{301}", "😀 \"x\" \\ /", "a\u{0}b\nc", "1"]))
        case .identifier:
            count += 1
            return .string("id-\(count)")
        case .choice(let names): return .string(random.one(of: names))
        case .url:
            return .string(
                random.one(of: [
                    "https://www.example.com/", "http://example.com/a%20b?q=1#f", "mailto:a@example.com",
                    "https://www.example.com/%C3%A9",
                ])
            )
        case .webServiceURL: return .string(random.one(of: ["https://wallet.example.com", "https://example.com/w/"]))
        case .token: return "0123456789abcdef"
        case .orderType: return "order.com.example.shop"
        case .dateTime: return .string(dateTime(1_700_000_000 + Int64(random.next() % 9_999_999)))
        case .duration: return .string(random.one(of: ["PT2H", "P0Y0M0DT0H30M0S", "P2W", "P1DT1S", "PT090M"]))
        case .boolean: return .bool(random.chance(50))
        case .amount: return amount()
        case .currency: return .string(currency)
        case .country: return .string(random.one(of: ["US", "DE", "XZ", "us"]))
        case .quantity:
            return random.one(of: [1, .number(number("1.50")), .number(number("2e0")), "3", "1.50", 100])
        case .number: return .number(number(random.one(of: ["0", "-12.50", "48.137154321987654321", "1e1", "9"])))
        case .positiveInteger: return .number(JSONNumber(Int64(1 + random.next() % 9_999_999_999)))
        case .schemaVersion: return .number(JSONNumber(Int64(version)))
        case .file(let use):
            let names = use.isImage ? ["logo.png", "a@2x.jpg", "Logo groß.PNG"] : ["r.pdf", "mail/r 1.jpeg"]
            return .string(random.one(of: names))
        case .object(let table): return object(table)
        case .list(let element):
            let length = fullness == 100 ? 2 : Int(random.next() % 3)
            return .array((0..<length).map { _ in value(element, name) })
        case .fulfillment: return fulfillment()
        }
    }

    private mutating func fulfillment() -> JSONValue {
        // One of each where everything is wanted.
        lastFulfillment = fullness == 100 && lastFulfillment == .shipping ? .pickup : .shipping
        let type = fullness == 100 ? lastFulfillment : random.one(of: FulfillmentType.allCases)
        guard case .object(var object) = object(type.object) else { return .null }
        object["fulfillmentType"] = .string(type.rawValue)
        return .object(object)
    }

    private mutating func amount() -> JSONValue {
        let text = random.one(of: ["0", "28.8", "28.80", "19.99", "12345678901234567890.123456789", "0.10", "-5.00"])
        if random.chance(50) { return .string(random.chance(10) ? "00" + text.drop { $0 == "-" } : text) }
        return .number(number(random.chance(10) ? "5.76e1" : text))
    }

    private func number(_ text: String) -> JSONNumber { JSONNumber(text) ?? JSONNumber(0) }

    private mutating func dateTime(_ seconds: Int64) -> String {
        let text = OrderDate(seconds: seconds).text.dropLast()
        let zone = random.one(of: ["Z", "Z", "+00:00", "-00:00", "+05:30", "-11:45", "z"])
        return text + random.one(of: ["", "", ".5", ".000", ".123456789"]) + zone
    }
}

extension JSONValue {
    /// The value with the four things changed that writing changes: amounts are texts, quantities numbers, null members
    /// of the tables gone; Apple's order does not matter to a comparison.
    func written(as kind: FieldKind) -> JSONValue {
        switch (kind, self) {
        case (.amount, .number(let number)): return .string(number.plainText(maximumLength: 64) ?? "")
        case (.quantity, .string(let text)):
            return (JSONNumber(text) ?? DecimalAmount(text).flatMap { JSONNumber($0.description) }).map { .number($0) }
                ?? self
        case (.list(let element), .array(let values)): return .array(values.map { $0.written(as: element) })
        case (.fulfillment, .object(let object)): return written(as: .object(FulfillmentShape.type(of: object).object))
        case (.object(let table), .object(let object)):
            return .object(
                JSONObject(
                    object.compactMap { name, value in
                        guard let field = table.field(name) else { return (name, value) }
                        return value.isNull ? nil : (name, value.written(as: field.kind))
                    }
                )
            )
        default: return self
        }
    }
}
