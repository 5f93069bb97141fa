// SPDX-License-Identifier: Apache-2.0

/// One JSON value (RFC 8259), kept exactly as it was written.
///
/// A number stays the text that came in, so `19.99` never passes through binary floating point; an object keeps the
/// order of its members. Two values are equal when they mean the same: numbers by their decimal value (`1.0` is
/// `1`), strings code point by code point (no Unicode normalization, RFC 8259 section 8.3), objects without regard
/// to the order of members.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as text.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Reads one JSON text, strictly: what RFC 8259 does not allow is refused, and duplicate member names too, since
    /// readers differ on which of them counts.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8. A leading byte order mark is passed over.
    ///   - limits: Bounds on size, depth and the number of values. Time is linear in the size.
    /// - Throws: The first fault, with its line, column and what to write instead.
    public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONSyntaxError) {
        var parser = JSONParser(limits: limits)
        self = try parser.document(bytes.span)
    }

    /// The value as UTF-8 text, without a byte order mark. Slashes are not escaped, numbers keep their text.
    public func serialized(_ style: JSONStyle = .compact) -> [UInt8] {
        var writer = JSONWriter(style: style)
        writer.write(self)
        return writer.output
    }
}

extension JSONValue: Hashable {
    /// Whether two values mean the same; see the type.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): ExactText.equal(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null:
            hasher.combine(0 as UInt8)
        case .bool(let value):
            hasher.combine(1 as UInt8)
            hasher.combine(value)
        case .number(let value):
            hasher.combine(2 as UInt8)
            hasher.combine(value)
        case .string(let value):
            hasher.combine(3 as UInt8)
            ExactText.hash(value, into: &hasher)
        case .array(let value):
            hasher.combine(4 as UInt8)
            hasher.combine(value)
        case .object(let value):
            hasher.combine(5 as UInt8)
            hasher.combine(value)
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON text. It carries the data: not for logs.
    public var description: String { String(decoding: serialized(.compact), as: UTF8.self) }
}
