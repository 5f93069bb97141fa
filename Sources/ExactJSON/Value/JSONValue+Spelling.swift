// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Whether two values are equal and their numbers have the same text, so that both have the same bytes in the form
    /// ``JSONStyle/canonical``: `1.50` and `1.5` are equal and not spelled alike.
    public func isSpelled(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let left), .number(let right)): ExactText.equal(left.text, right.text)
        case (.array(let left), .array(let right)):
            // Copies of one array are not looked through.
            left.span.isIdentical(to: right.span)
                || left.count == right.count && zip(left, right).allSatisfy { $0.isSpelled(as: $1) }
        case (.object(let left), .object(let right)): left.isSpelled(as: right)
        default: self == other
        }
    }
}

extension JSONObject {
    /// Whether two objects are equal, in whatever order their members are, and all numbers have the same text.
    public func isSpelled(as other: JSONObject) -> Bool {
        guard count == other.count else { return false }
        return members.indices.allSatisfy { index in
            let (name, value) = members[index]
            // Most equal objects have the same order too: look there first.
            if ExactText.equal(other.members[index].name, name) {
                return value.isSpelled(as: other.members[index].value)
            }
            return other[name].map { value.isSpelled(as: $0) } ?? false
        }
    }
}
