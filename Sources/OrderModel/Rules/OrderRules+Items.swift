// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    /// Fulfillments and returns list a part of the order's items: Human Interface Guidelines, "Wallet", order tracking.
    mutating func checkItems() {
        guard let items = order["lineItems"]?.arrayValue, !items.isEmpty else { return }
        var ordered = OrderedItems(items)
        for (_, object) in objects("returns") where object["status"] != "cancelled" {
            for item in object["lineItems"]?.arrayValue ?? [] { ordered.replace(item) }
        }
        for list in ["fulfillments", "returns"] {
            ordered.beginCount(replacing: list == "fulfillments")
            for (place, object) in objects(list) {
                // What was cancelled or went wrong is often sent again.
                let counts = object["status"] != "cancelled" && object["status"] != "issue"
                for (index, item) in (object["lineItems"]?.arrayValue ?? []).enumerated() {
                    checkItem(item, place + ["lineItems", String(index)], counts: counts, &ordered)
                }
            }
        }
    }

    private mutating func checkItem(_ item: JSONValue, _ place: [String], counts: Bool, _ ordered: inout OrderedItems) {
        guard item["title"]?.stringValue != nil else { return }
        guard let group = ordered.group(of: item) else {
            return add(
                .warning,
                "item-not-ordered",
                place,
                "The order's lineItems have no item with this sku, gtin or title.",
                fix: "List every item in the order's lineItems too, with the same sku and title."
            )
        }
        guard counts, let quantity = item["quantity"].flatMap({ DecimalAmount($0) }), quantity > .zero,
            let excess = ordered.count(quantity, in: group)
        else { return }
        add(
            .warning,
            "more-than-ordered",
            place + ["quantity"],
            "\(excess.counted) of this item are listed in \(place[0]), but \(excess.ordered) were ordered.",
            fix: "Give each of \(place[0]) only its own part of the items."
        )
    }
}

/// The order's items, to find those of a fulfillment or return among them.
///
/// Nothing in Apple's model names an item, so items count as the same when they share a sku, a gtin or a title. Items of the
/// order that share one of these are taken together (a shirt in two sizes under one title): better no warning than a wrong
/// one.
struct OrderedItems {
    /// An item of each key; items that are taken together lead to one root.
    private var items: [Key: Int] = [:]
    private var parents: [Int] = []
    /// What was ordered, at the root of each group; nil when a quantity is unreadable.
    private var ordered: [DecimalAmount?] = []
    private var counted: [DecimalAmount] = []
    /// What comes back, which is often sent once more.
    private var replaced: [DecimalAmount] = []
    private var isReplacing = false
    private var told: Set<Int> = []

    private enum Member: String, CaseIterable {
        case sku, gtin, title
    }

    private struct Key: Hashable {
        let member: Member
        let text: LookalikeName
    }

    init(_ list: [JSONValue]) {
        items.reserveCapacity(2 * list.count)
        for (index, item) in list.enumerated() {
            parents.append(index)
            // Nobody can have ordered nothing, or less: a fault of its own, and nothing to count against.
            ordered.append(item["quantity"].flatMap { DecimalAmount($0) }.flatMap { $0 > .zero ? $0 : nil })
            for key in Self.keys(of: item) {
                guard let other = items.updateValue(index, forKey: key).map({ root(of: $0) }) else { continue }
                let own = root(of: index)
                if own == other { continue }
                parents[other] = own
                ordered[own] = Self.sum(ordered[own], ordered[other])
            }
        }
        replaced = Array(repeating: .zero, count: ordered.count)
        beginCount(replacing: false)
    }

    /// Shortens the way for the next one.
    private mutating func root(of item: Int) -> Int {
        var item = item
        while parents[item] != item {
            parents[item] = parents[parents[item]]
            item = parents[item]
        }
        return item
    }

    /// Begins to count anew.
    ///
    /// - Parameter isReplacing: whether what comes back may be there once more.
    mutating func beginCount(replacing isReplacing: Bool) {
        self.isReplacing = isReplacing
        counted = Array(repeating: .zero, count: ordered.count)
        told = []
    }

    mutating func group(of item: JSONValue) -> Int? {
        for key in Self.keys(of: item) { if let index = items[key] { return root(of: index) } }
        return nil
    }

    /// Takes note of an item that comes back.
    mutating func replace(_ item: JSONValue) {
        guard let quantity = item["quantity"].flatMap({ DecimalAmount($0) }), quantity > .zero,
            let group = group(of: item), let sum = replaced[group].adding(quantity)
        else { return }
        replaced[group] = sum
    }

    /// Counts items of a group; gives both numbers when they are more than were ordered, the first time.
    mutating func count(_ quantity: DecimalAmount, in group: Int) -> (counted: DecimalAmount, ordered: DecimalAmount)? {
        guard let sum = counted[group].adding(quantity) else { return nil }
        counted[group] = sum
        guard let own = ordered[group], let limit = isReplacing ? own.adding(replaced[group]) : own, sum > limit,
            told.insert(group).inserted
        else { return nil }
        return (sum, own)
    }

    private static func sum(_ left: DecimalAmount?, _ right: DecimalAmount?) -> DecimalAmount? {
        guard let left, let right else { return nil }
        return left.adding(right)
    }

    /// What tells an item, the surest first. Of titles neither upper and lower case matter, nor blanks, nor how an accent is
    /// written.
    private static func keys(of item: JSONValue) -> [Key] {
        Member.allCases.compactMap { member in
            guard let text = item[member.rawValue]?.stringValue, !text.isEmpty else { return nil }
            return Key(member: member, text: LookalikeName(member == .title ? Self.folded(text) : text))
        }
    }

    /// Whether all is ASCII, with one blank at most between any two words, and none around them.
    private static func isPlain(_ title: String) -> Bool {
        var before: UInt8 = 0x20
        for byte in title.utf8 {
            guard (0x20..<0x7F).contains(byte), byte != 0x20 || before != 0x20 else { return false }
            before = byte
        }
        return before != 0x20
    }

    /// A title in small letters, with one blank where there are some, and none around it.
    private static func folded(_ title: String) -> String {
        if isPlain(title) { return title.lowercased() }
        var output = String.UnicodeScalarView()
        var hasGap = false
        for scalar in title.lowercased().unicodeScalars {
            // Blanks of no width, too; but what joins letters or marks may tell two titles apart.
            if scalar.properties.isWhitespace || scalar == "\u{200B}" || scalar == "\u{FEFF}" {
                hasGap = !output.isEmpty
            } else {
                if hasGap { output.append(" ") }
                hasGap = false
                output.append(scalar)
            }
        }
        return String(output)
    }
}
