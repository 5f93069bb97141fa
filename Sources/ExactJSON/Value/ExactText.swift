// SPDX-License-Identifier: Apache-2.0

/// Strings compared code point by code point: the one way in which text from outside is compared, looked up and hashed.
///
/// Swift's `==` on strings is canonical equivalence: a precomposed and a decomposed "é" are equal to it. JSON
/// compares code units (RFC 8259 section 8.3), so two members named like that are two members. And Swift sorts each run
/// of combining marks first, in the square of its length: 800 KB of them take minutes. That goes for everything that
/// compares strings or characters: `switch`, `rawValue:`, `contains`, `hasPrefix`, `split`, `Set<String>`.
enum ExactText {
    /// Whether two strings have the same code points.
    static func equal(_ left: String, _ right: String) -> Bool {
        let left = left.utf8.span
        let right = right.utf8.span
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Whether one string sorts before another by code points, which is also the order of their UTF-8 bytes.
    static func precedes(_ left: String, _ right: String) -> Bool {
        let left = left.utf8.span
        let right = right.utf8.span
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }

    /// The number of code points.
    static func length(_ text: String) -> Int {
        let bytes = text.utf8.span
        var continuations = 0
        for index in bytes.indices where bytes[index] & 0xC0 == 0x80 { continuations += 1 }
        return bytes.count - continuations
    }

    /// Hashes the code points. `String.hash(into:)` would not do: it hashes the normalized form, and a sender could
    /// make any number of different names with one hash out of accents.
    static func hash(_ text: String, into hasher: inout Hasher) {
        let bytes = text.utf8.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}

// For strings themselves: the general form below is not specialized in other modules, and walks byte by byte through
// witnesses there.
extension String {
    /// Whether the text has these bytes.
    package func isExactly(_ other: String) -> Bool { ExactText.equal(self, other) }

    /// Whether the text is one of a few names, byte for byte.
    package func isExactly(oneOf names: [String]) -> Bool {
        for name in names where ExactText.equal(self, name) { return true }
        return false
    }
}

extension StringProtocol {
    /// Whether the text has these bytes.
    package func isExactly(_ other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether the text is one of a few names, byte for byte.
    package func isExactly(oneOf names: some Sequence<String>) -> Bool { names.contains { isExactly($0) } }

    /// Whether the text's bytes begin with these.
    package func beginsExactly(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text's bytes end with these.
    package func endsExactly(with suffix: String) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The parts between separators, a character of ASCII each; as `split(separator:omittingEmptySubsequences:)` with
    /// false.
    package func parts(by separator: Unicode.Scalar) -> [SubSequence] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: false)
            .map { self[$0.startIndex..<$0.endIndex] }
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// The case of this name, byte for byte.
    package init?(exactly name: String) {
        guard let found = Self.allCases.first(where: { name.isExactly($0.rawValue) }) else { return nil }
        self = found
    }
}

/// A text as a key, compared code point by code point. Two names that only look alike are two.
package struct ExactKey: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactKey, right: ExactKey) -> Bool { ExactText.equal(left.text, right.text) }

    package func hash(into hasher: inout Hasher) { ExactText.hash(text, into: &hasher) }
}

extension ExactKey: Comparable {
    package static func < (left: ExactKey, right: ExactKey) -> Bool { ExactText.precedes(left.text, right.text) }
}

extension ExactKey {
    /// For `switch`: whether a key is this text.
    package static func ~= (text: String, key: ExactKey) -> Bool { key.text.isExactly(text) }
}

extension ExactKey {
    /// Whether two lists hold the same texts in the same order, or there are none.
    package static func equal(_ left: [String]?, _ right: [String]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.elementsEqual(right, by: ExactText.equal)
    }
}

extension Set<ExactKey> {
    /// The set of some texts.
    package init(exactly texts: some Sequence<String>) { self.init(texts.lazy.map(ExactKey.init)) }
}
