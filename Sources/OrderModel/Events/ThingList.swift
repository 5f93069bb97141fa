// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The fulfillments or returns of a document while a log is folded: each is found, replaced and taken out by its identifier
/// in constant time, so that an entry that touches thousands of them costs no more for each than one that touches one.
struct ThingList {
    /// Up to this many are looked through; comparing a few short texts is cheaper than hashing one.
    private static let scanned = 8

    private let identifierName: String
    /// Things in their order; nil where one was taken out.
    private var slots: [JSONValue?]
    /// Where each identifier is; nil until a long list is asked for one.
    private var places: [ExactKey: Int]?
    /// Whether it differs from what it began with.
    private(set) var isChanged = false

    init(_ list: JSONValue?, by identifierName: String) {
        self.identifierName = identifierName
        self.slots = list?.arrayValue ?? []
    }

    /// The things in their order.
    var values: [JSONValue] { slots.compactMap(\.self) }

    /// The thing with this identifier.
    mutating func thing(_ identifier: String) -> JSONObject? { place(identifier).flatMap { slots[$0]?.objectValue } }

    /// Takes the place of the thing with this identifier, or of none at the end.
    mutating func put(_ object: JSONObject, _ identifier: String) {
        isChanged = true
        if let place = place(identifier) {
            slots[place] = .object(object)
        } else {
            slots.append(.object(object))
            places?[ExactKey(identifier)] = slots.count - 1
        }
    }

    /// Takes a thing out; false when it is not there.
    mutating func remove(_ identifier: String) -> Bool {
        guard let place = place(identifier) else { return false }
        isChanged = true
        slots[place] = nil
        places?[ExactKey(identifier)] = nil
        return true
    }

    /// Brings the things that are named into the sequence given, before all others; false when they stand so already.
    mutating func arrange(_ sequence: [String]) -> Bool {
        var rest = slots
        var arranged: [JSONValue?] = []
        arranged.reserveCapacity(rest.count)
        for identifier in sequence {
            guard let place = place(identifier), let value = rest[place] else { continue }
            arranged.append(value)
            rest[place] = nil
        }
        arranged += rest.filter { $0 != nil }
        if arranged == slots.filter({ $0 != nil }) { return false }
        isChanged = true
        slots = arranged
        places = nil
        return true
    }

    /// Whether it makes the same list, to the digit, and differs from what it began with as much.
    func isSame(as other: Self) -> Bool {
        guard isChanged == other.isChanged, slots.count == other.slots.count else { return false }
        return zip(slots, other.slots).allSatisfy { slot, other in
            switch (slot, other) {
            case (nil, nil): true
            case (let slot?, let other?): slot.isSpelled(as: other)
            default: false
            }
        }
    }

    private mutating func place(_ identifier: String) -> Int? {
        if places == nil, slots.count > Self.scanned {
            var found: [ExactKey: Int] = [:]
            found.reserveCapacity(slots.count)
            for (index, value) in slots.enumerated() {
                guard let name = value?[identifierName]?.stringValue, found[ExactKey(name)] == nil else { continue }
                found[ExactKey(name)] = index
            }
            places = found
        }
        let key = ExactKey(identifier)
        if let places { return places[key] }
        return slots.firstIndex { $0?[identifierName]?.stringValue.map { ExactKey($0) == key } ?? false }
    }
}
