// SPDX-License-Identifier: Apache-2.0

/// A place inside a JSON value (RFC 6901), such as `/fulfillments/0/status`.
public struct JSONPointer: Sendable, Hashable {
    /// The member names and array positions from the root down, unescaped.
    public var tokens: [String]

    /// The whole value.
    public static let root = JSONPointer(tokens: [])

    /// A pointer from its unescaped parts.
    public init(tokens: [String]) { self.tokens = tokens }

    /// A pointer from its text; nil unless it is empty or starts with `/`, and every `~` is part of `~0` or `~1`.
    public init?(_ text: String) {
        guard !text.isEmpty else {
            self = .root
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        var token: [UInt8] = []
        var escaping = false
        for byte in text.utf8.dropFirst() {
            if escaping {
                switch byte {
                case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
                default: return nil
                }
                escaping = false
            } else if byte == UInt8(ascii: "~") {
                escaping = true
            } else if byte == UInt8(ascii: "/") {
                tokens.append(String(decoding: token, as: UTF8.self))
                token.removeAll(keepingCapacity: true)
            } else {
                token.append(byte)
            }
        }
        guard !escaping else { return nil }
        tokens.append(String(decoding: token, as: UTF8.self))
        self.tokens = tokens
    }

    /// The pointer to a member of what this one points to.
    public func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }

    /// The pointer to an element of what this one points to.
    public func appending(_ index: Int) -> JSONPointer { JSONPointer(tokens: tokens + [String(index)]) }

    /// This pointer continued by another.
    public func appending(_ rest: JSONPointer) -> JSONPointer { JSONPointer(tokens: tokens + rest.tokens) }

    /// The pointer to what holds this place; nil for the root.
    public var parent: JSONPointer? { tokens.isEmpty ? nil : JSONPointer(tokens: Array(tokens.dropLast())) }

    /// Whether this place is the other one or lies inside it.
    public func isInside(_ other: JSONPointer) -> Bool { tokens.starts(with: other.tokens, by: ExactText.equal) }

    /// The position that a token names in an array: digits without a leading zero (RFC 6901 section 4).
    static func arrayIndex(_ token: String) -> Int? {
        let bytes = token.utf8.span
        guard bytes.count > 0, bytes.count <= 18, bytes.count == 1 || bytes[0] != UInt8(ascii: "0") else { return nil }
        var value = 0
        for index in bytes.indices {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }
}

extension JSONPointer {
    /// Whether both have the same tokens, code point by code point, as members' names are compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.tokens.elementsEqual(right.tokens, by: ExactText.equal)
    }

    /// Hashes the code points.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tokens.count)
        for token in tokens { ExactText.hash(token, into: &hasher) }
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer as text, empty for the root.
    public var description: String {
        var text: [UInt8] = []
        for token in tokens {
            text.append(UInt8(ascii: "/"))
            for byte in token.utf8 {
                switch byte {
                case UInt8(ascii: "~"): text.append(contentsOf: [UInt8(ascii: "~"), UInt8(ascii: "0")])
                case UInt8(ascii: "/"): text.append(contentsOf: [UInt8(ascii: "~"), UInt8(ascii: "1")])
                default: text.append(byte)
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension JSONValue {
    /// What a pointer points to; nil when nothing is there. `-`, the place after an array's end, is never there.
    public func at(_ pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            switch value {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                guard let index = JSONPointer.arrayIndex(token), index < elements.count else { return nil }
                value = elements[index]
            default:
                return nil
            }
        }
        return value
    }
}
