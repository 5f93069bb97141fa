// SPDX-License-Identifier: Apache-2.0

/// Strings compared code point by code point: the one way in which text from outside is compared, looked up and hashed.
///
/// Swift's `==` on strings is canonical equivalence: a precomposed and a decomposed "é" are equal to it. JSON
/// compares code units (RFC 8259 section 8.3), so two members named like that are two members. And Swift sorts each run
/// of combining marks first, in the square of its length: 800 KB of them take minutes. That goes for everything that
/// compares strings or characters: `switch`, `rawValue:`, `contains`, `hasPrefix`, `split`, `Set<String>`. So a text from
/// outside goes to them only if it is known to be short, 256 bytes or so; scripts/check-sources asks for the reason.
enum ExactText {
    /// Whether two strings have the same code points.
    static func equal(_ left: String, _ right: String) -> Bool {
        // Most differ in length, which is known before the bytes are at hand.
        guard left.utf8.count == right.utf8.count else { return false }
        let left = left.utf8.span
        let right = right.utf8.span
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Whether a part stands among bytes at a place, which may lie outside.
    static func has(_ bytes: Span<UInt8>, _ part: String, at start: Int) -> Bool {
        let part = part.utf8.span
        guard start >= 0, start + part.count <= bytes.count else { return false }
        for index in part.indices where part[index] != bytes[start + index] { return false }
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

    /// Where some bytes begin, one place behind the end of the one before.
    static func places(of part: String, in bytes: [UInt8]) -> AnyIterator<Int> {
        let part = Array(part.utf8)
        var index = 0
        return AnyIterator {
            while !part.isEmpty, index + part.count <= bytes.count {
                let start = index
                if bytes[start] == part[0], bytes[start..<start + part.count].elementsEqual(part) {
                    index += part.count
                    return start
                }
                index += 1
            }
            return nil
        }
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

    /// Whether the text's bytes begin with these.
    package func beginsExactly(with prefix: String) -> Bool { ExactText.has(utf8.span, prefix, at: 0) }

    /// Whether the text's bytes end with these.
    package func endsExactly(with suffix: String) -> Bool {
        ExactText.has(utf8.span, suffix, at: utf8.count - suffix.utf8.count)
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

    /// Whether the text is a token of a protocol, which has the letters of ASCII in either case.
    ///
    /// - Parameter token: in lower case.
    package func isCaseless(_ token: String) -> Bool { utf8.count == token.utf8.count && beginsCaseless(with: token) }

    /// Whether the text begins with such a token.
    package func beginsCaseless(with token: String) -> Bool {
        utf8.lazy.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }.starts(with: token.utf8)
    }

    /// Whether these bytes are somewhere in the text's.
    package func containsExactly(_ part: String) -> Bool { ExactText.places(of: part, in: Array(utf8)).next() != nil }

    /// The text with other bytes in place of some, wherever they are.
    package func replacingExactly(_ part: String, with other: String) -> String {
        let bytes = Array(utf8)
        var result: [UInt8] = []
        var end = 0
        for place in ExactText.places(of: part, in: bytes) {
            result += bytes[end..<place] + other.utf8
            end = place + part.utf8.count
        }
        return end == 0 ? String(self) : String(decoding: result + bytes[end...], as: UTF8.self)
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
