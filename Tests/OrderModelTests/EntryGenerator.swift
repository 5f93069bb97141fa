// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience

@testable import OrderModel

/// Makes sets of entries of every kind: about the order, its payment, parcels, pickups and returns that are there or not yet,
/// with ties, duplicates, corrections, edits, additions, removals, changes after the end, and things that don't fit.
struct EntryGenerator {
    var random: SeededGenerator
    /// What the set is folded onto: an order that just came, one on its way with a return, or one that has ended.
    let base: JSONValue

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let order = try Story.base().document
        let pickup: JSONValue = [
            "fulfillmentType": "pickup", "fulfillmentIdentifier": "p", "displayName": "Store",
            "status": "readyForPickup",
        ]
        let goods: JSONValue = ["returnIdentifier": "r", "status": "onTheWay", "carrier": "C"]
        switch seed % 4 {
        case 0: base = try order.replacing("/fulfillments/1", with: pickup).replacing("/returns", with: [goods])
        case 1:
            base = try order.replacing("/fulfillments/0/status", with: "delivered").replacing(
                "/status",
                with: "completed"
            )
        case 2 where seed % 8 == 2:
            base = try order.replacing("/status", with: "cancelled").replacing("/payment", with: nil)
        default: base = order
        }
    }

    /// - Parameter size: how many entries; a few when nil.
    mutating func set(_ size: Int? = nil) throws -> [LogEntry] {
        let count = size ?? 2 + Int(random.next() % 7)
        var entries: [LogEntry] = []
        for index in 0..<count { entries.append(try entry(Self.name(index))) }
        while random.chance(25) { entries.append(random.one(of: entries)) }
        return entries
    }

    /// Two of three names look like each other and are two: an accent in one scalar and in two.
    private static func name(_ index: Int) -> String { ["e", "\u{E9}", "e\u{301}"][index % 3] + "\(index / 3)" }

    private mutating func entry(_ identifier: String) throws -> LogEntry {
        let moment = Int64(1 + random.next() % 4)
        if random.chance(25) { return try edit(identifier, moment) }
        let (subject, members) =
            switch random.next() % 12 {
            case 0...1: ("payment", payment(identifier))
            case 2: ("order", order(identifier))
            case 3...4: ("return", goods(identifier))
            default: ("fulfillment", fulfillment(identifier))
            }
        var event = JSONObject([("eventIdentifier", .string(identifier)), (subject, .object(members))])
        if random.chance(15) { event["correction"] = true }
        // A shipping fulfillment that was picked up, or nothing to change, is refused by itself; draw again.
        guard let parsed = OrderEvent.parse(.object(event)).event else { return try entry(identifier) }
        return LogEntry(parsed, occurredAt: moment)
    }

    private mutating func payment(_ identifier: String) -> JSONObject {
        var members = JSONObject()
        if random.chance(70) { members["status"] = .string(random.one(of: PaymentStatus.names)) }
        if random.chance(30) {
            // Few amounts in many spellings.
            let drawn = random.next() % 9
            let text = "\(drawn % 3)" + ["", ".0", ".00"][Int(drawn / 3)]
            members["total"] = ["amount": JSONNumber(text).map { .number($0) } ?? .null, "currency": "USD"]
        }
        if random.chance(40) { members["paymentMethods"] = random.chance(25) ? .null : [.string(identifier)] }
        return members
    }

    private mutating func order(_ identifier: String) -> JSONObject {
        var members = JSONObject()
        if random.chance(60) { members["status"] = .string(random.one(of: OrderStatus.names)) }
        if random.chance(40) {
            members["statusDescription"] = random.chance(30) ? .null : .string("order " + identifier)
        }
        if random.chance(30) { members["orderNumber"] = random.chance(20) ? .null : .string(identifier) }
        if random.chance(20) { members["lineItems"] = [["title": .string(identifier), "quantity": 1]] }
        if random.chance(20) { members["customer"] = random.chance(40) ? .null : ["givenName": .string(identifier)] }
        return members
    }

    private mutating func goods(_ identifier: String) -> JSONObject {
        var members: JSONObject = ["returnIdentifier": .string(random.one(of: ["r", "r", "s"]))]
        if random.chance(70) { members["status"] = .string(random.one(of: ReturnStatus.names)) }
        if random.chance(30) { members["statusDescription"] = .string("return " + identifier) }
        if random.chance(50) { members["carrier"] = random.chance(25) ? .null : .string(identifier) }
        if random.chance(30) || members.count < 2 { members["returnNumber"] = .string(identifier) }
        return members
    }

    private mutating func fulfillment(_ identifier: String) -> JSONObject {
        var members: JSONObject = ["fulfillmentIdentifier": .string(random.one(of: ["a", "a", "a", "b", "p"]))]
        if random.chance(25) {
            members["fulfillmentType"] = .string(random.one(of: ["shipping", "shipping", "pickup"]))
        }
        if random.chance(15) { members["displayName"] = "Store" }
        if random.chance(75) {
            members["status"] = .string(
                random.one(of: [
                    "open", "processing", "shipped", "onTheWay", "outForDelivery", "delivered", "delivered", "issue",
                    "cancelled", "readyForPickup", "pickedUp",
                ])
            )
        }
        if random.chance(40) { members["statusDescription"] = random.chance(10) ? .null : .string(identifier) }
        if random.chance(40) { members["carrier"] = random.chance(25) ? .null : .string(identifier) }
        if random.chance(35) || members.count < 2 { members["notes"] = .string(identifier) }
        if random.chance(15) { members["lineItems"] = [["title": .string(identifier), "quantity": 2]] }
        return members
    }

    /// A PATCH of the base as it was, so that edits know nothing of each other.
    private mutating func edit(_ identifier: String, _ moment: Int64) throws -> LogEntry {
        let first = base["fulfillments"]?[0] ?? .null
        let other: JSONValue = ["fulfillmentType": "shipping", "fulfillmentIdentifier": "b", "status": "processing"]
        let goods = ["r", "s"].map { JSONValue.object(["returnIdentifier": .string($0), "status": "open"]) }
        let after: JSONValue =
            switch random.next() % 14 {
            case 0: try base.replacing("/fulfillments", with: nil)
            case 1: try base.replacing("/fulfillments", with: [other, first])
            case 2: try base.replacing("/fulfillments", with: [first, other])
            case 3:
                try base.replacing("/fulfillments/0/status", with: .string(random.one(of: ["shipped", "delivered"])))
            case 4: try base.replacing("/status", with: .string(random.one(of: OrderStatus.names)))
            case 5: try base.replacing("/payment", with: nil)
            case 6:
                try base.replacing("/payment", with: ["total": ["amount": "7", "currency": "USD"], "status": "paid"])
            case 7: try base.replacing("/returns", with: nil)
            case 8: try base.replacing("/returns", with: .array(goods))
            case 9: try base.replacing("/returns", with: .array(goods.reversed()))
            case 10: try base.replacing("/schemaVersion", with: 2).replacing("/payment/status", with: nil)
            case 11: try base.replacing("/fulfillments/0/fulfillmentIdentifier", with: "c")
            case 12: try base.replacing("/fulfillments/0/notes", with: .string(identifier))
            default: try base.replacing("/statusDescription", with: .string(identifier))
            }
        return LogEntry(OrderEdit(from: base, to: after), identifier: identifier, occurredAt: moment)
    }
}
