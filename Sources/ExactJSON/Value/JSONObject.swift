// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, in the order they were written.
///
/// Looking a name up takes constant time in large objects and a short scan in small ones, so a body with
/// thousands of members costs no more a member than an ordinary one. Names are unique.
public struct JSONObject: Sendable {
    /// One member.
    public typealias Element = (name: String, value: JSONValue)

    /// Above this many members names are found through a dictionary. Below it, comparing a few short texts is
    /// cheaper than hashing one.
    private static let scanned = 16

    /// The members in order.
    public private(set) var members: [Element] = []
    /// Where each name is; nil while the object is small.
    private var positions: [ExactKey: Int]?

    /// An empty object.
    public init() {}

    /// An object with the given members. A name given twice keeps its first place and takes the last value.
    public init(_ members: [(String, JSONValue)]) {
        self.members.reserveCapacity(members.count)
        for (name, value) in members { self[name] = value }
    }

    /// An object of members whose names are known to differ.
    package init(distinct members: [Element]) {
        self.members = members
        rebuildPositions()
    }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in order.
    public var keys: [String] { members.map(\.name) }

    /// The value of a member. Setting it replaces the value in place or appends a member; setting nil removes the
    /// member.
    public subscript(name: String) -> JSONValue? {
        get {
            guard let position = position(of: name) else { return nil }
            return members[position].value
        }
        set {
            guard let newValue else {
                remove(name)
                return
            }
            if let position = position(of: name) {
                members[position].value = newValue
            } else {
                append(name, newValue)
            }
        }
    }

    /// Whether a member of this name is there, be its value `null`.
    public func contains(_ name: String) -> Bool { position(of: name) != nil }

    /// Removes a member and returns its value; nil when there was none. Takes time in proportion to the members;
    /// to remove many use `filter`.
    @discardableResult
    public mutating func remove(_ name: String) -> JSONValue? {
        guard let position = position(of: name) else { return nil }
        let removed = members.remove(at: position)
        if positions != nil { rebuildPositions() }
        return removed.value
    }

    /// An object of the members that satisfy a condition, in the same order.
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
        var result = JSONObject()
        for member in members where try isIncluded(member) { result.append(member.name, member.value) }
        return result
    }

    /// An object with the same names and other values, in the same order.
    public func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONObject {
        var result = self
        for index in result.members.indices { result.members[index].value = try transform(result.members[index].value) }
        return result
    }

    /// Where a name stands among the members.
    func position(of name: String) -> Int? {
        if let positions { return positions[ExactKey(name)] }
        for index in members.indices where ExactText.equal(members[index].name, name) { return index }
        return nil
    }

    /// Adds a member whose name is known not to be there yet.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append((name, value))
        if positions != nil {
            positions?[ExactKey(name)] = members.count - 1
        } else if members.count > Self.scanned {
            rebuildPositions()
        }
    }

    private mutating func rebuildPositions() {
        guard members.count > Self.scanned else {
            positions = nil
            return
        }
        var rebuilt: [ExactKey: Int] = [:]
        rebuilt.reserveCapacity(members.count * 2)
        for index in members.indices { rebuilt[ExactKey(members[index].name)] = index }
        positions = rebuilt
    }
}

extension JSONObject: Sequence {
    /// Goes through the members in order.
    public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }

    /// The number of members.
    public var underestimatedCount: Int { members.count }
}

extension JSONObject: Hashable {
    /// Whether two objects have the same members, in whatever order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.members.indices {
            let (name, value) = left.members[index]
            // Most equal objects have the same order too: look there first.
            if ExactText.equal(right.members[index].name, name) {
                guard right.members[index].value == value else { return false }
            } else {
                guard let position = right.position(of: name), right.members[position].value == value else {
                    return false
                }
            }
        }
        return true
    }

    /// Hashes the members so that their order makes no difference.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in members {
            var member = hasher
            ExactText.hash(name, into: &member)
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(members.count)
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with its members in the order written.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
