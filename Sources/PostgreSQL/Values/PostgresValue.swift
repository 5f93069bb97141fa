// SPDX-License-Identifier: Apache-2.0

/// A parameter of a statement.
///
/// It is written in the binary format of the type that the server inferred for the parameter, so `.int` serves
/// `smallint`, `integer`, `bigint` and `numeric` alike. A value that the type can't take is an error before anything is
/// sent.
package enum PostgresValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case int4(Int32)
    case double(Double)
    /// Text; also for `json`, `jsonb`, `uuid` and every type that reads itself from text.
    case text(String)
    case bytes([UInt8])
    case timestamp(Timestamp)
    /// The usual 36 characters.
    case uuid(String)
    case interval(microseconds: Int64)

    case bools([Bool?])
    case ints([Int64?])
    case doubles([Double?])
    case texts([String?])
    case bytesArray([[UInt8]?])
    case timestamps([Timestamp?])
    case uuids([String?])
    /// Microseconds each.
    case intervals([Int64?])

    /// The value or NULL.
    package static func optional(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null }
    /// The value or NULL.
    package static func optional(_ number: Int64?) -> PostgresValue { number.map { .int($0) } ?? .null }
    /// The value or NULL.
    package static func optional(_ bytes: [UInt8]?) -> PostgresValue { bytes.map { .bytes($0) } ?? .null }
    /// The value or NULL.
    package static func optional(_ moment: Timestamp?) -> PostgresValue { moment.map { .timestamp($0) } ?? .null }

    /// The kind's name for messages; never the value.
    internal var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .int4: "int4"
        case .double: "double"
        case .text: "text"
        case .bytes: "bytes"
        case .timestamp: "timestamp"
        case .uuid: "uuid"
        case .interval: "interval"
        case .bools: "bools"
        case .ints: "ints"
        case .doubles: "doubles"
        case .texts: "texts"
        case .bytesArray: "bytesArray"
        case .timestamps: "timestamps"
        case .uuids: "uuids"
        case .intervals: "intervals"
        }
    }
}

extension PostgresValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}
