// SPDX-License-Identifier: Apache-2.0

/// Strings compared code point by code point.
///
/// Swift's `==` on strings is canonical equivalence: a precomposed and a decomposed "é" are equal to it. JSON
/// compares code units (RFC 8259 section 8.3), so two members named like that are two members.
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
