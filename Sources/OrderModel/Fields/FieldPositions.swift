// SPDX-License-Identifier: Apache-2.0

/// Where the fields of an object stand, by name: a table that is made once and asked for every member of every order.
///
/// A dictionary would do the same at several times the cost: its hash withstands keys that an attacker chose. These keys
/// are ours, so the number of steps is bounded whatever a document holds.
struct FieldPositions: Sendable {
    private static let slots = 256
    private static let empty: UInt8 = 0xFF

    /// The names' bytes in one array, since to take one out of many would count references.
    private var bytes: [UInt8] = []
    /// Where each name ends.
    private var ends: [Int] = []
    /// The position of the name that belongs to a slot or found its own one taken.
    private var table = [UInt8](repeating: Self.empty, count: Self.slots)

    /// - Precondition: fewer than 100 names, each once.
    init(_ names: [String]) {
        precondition(names.count < 100 && Set(names).count == names.count)
        for (position, name) in names.enumerated() {
            bytes += name.utf8
            ends.append(bytes.count)
            var slot = Self.slot(of: name.utf8.span)
            while table[slot] != Self.empty { slot = (slot + 1) % Self.slots }
            table[slot] = UInt8(position)
        }
    }

    /// The position of a name, byte for byte.
    func position(of name: String) -> Int? {
        let name = name.utf8.span
        var slot = Self.slot(of: name)
        while table[slot] != Self.empty {
            let position = Int(table[slot])
            let start = position == 0 ? 0 : ends[position - 1]
            if Self.equal(bytes.span.extracting(start..<ends[position]), name) { return position }
            slot = (slot + 1) % Self.slots
        }
        return nil
    }

    private static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    private static func slot(of bytes: Span<UInt8>) -> Int {
        guard bytes.count > 0 else { return 0 }
        let mixed = Int(bytes[0]) &* 31 &+ Int(bytes[bytes.count / 2]) &* 13 &+ Int(bytes[bytes.count - 1]) &* 7
        return (mixed &+ bytes.count &* 37) % slots
    }
}
