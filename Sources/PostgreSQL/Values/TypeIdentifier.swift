// SPDX-License-Identifier: Apache-2.0

/// The object identifier of a PostgreSQL type, as `pg_type.dat` fixes it for the built-in ones.
internal struct TypeIdentifier: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    static let bool = Self(rawValue: 16)
    static let bytea = Self(rawValue: 17)
    static let name = Self(rawValue: 19)
    static let int8 = Self(rawValue: 20)
    static let int2 = Self(rawValue: 21)
    static let int4 = Self(rawValue: 23)
    static let text = Self(rawValue: 25)
    static let oid = Self(rawValue: 26)
    static let json = Self(rawValue: 114)
    static let float4 = Self(rawValue: 700)
    static let float8 = Self(rawValue: 701)
    static let unknown = Self(rawValue: 705)
    static let bpchar = Self(rawValue: 1042)
    static let varchar = Self(rawValue: 1043)
    static let timestamp = Self(rawValue: 1114)
    static let timestamptz = Self(rawValue: 1184)
    static let interval = Self(rawValue: 1186)
    static let uuid = Self(rawValue: 2950)
    static let void = Self(rawValue: 2278)
    static let jsonb = Self(rawValue: 3802)

    static let boolArray = Self(rawValue: 1000)
    static let byteaArray = Self(rawValue: 1001)
    static let nameArray = Self(rawValue: 1003)
    static let int2Array = Self(rawValue: 1005)
    static let int4Array = Self(rawValue: 1007)
    static let textArray = Self(rawValue: 1009)
    static let varcharArray = Self(rawValue: 1015)
    static let int8Array = Self(rawValue: 1016)
    static let float8Array = Self(rawValue: 1022)
    static let timestampArray = Self(rawValue: 1115)
    static let timestamptzArray = Self(rawValue: 1185)
    static let intervalArray = Self(rawValue: 1187)
    static let uuidArray = Self(rawValue: 2951)

    /// The type of an array's elements; nil for what is no array or one of a type unknown here.
    var element: TypeIdentifier? {
        switch self {
        case .boolArray: .bool
        case .byteaArray: .bytea
        case .nameArray: .name
        case .int2Array: .int2
        case .int4Array: .int4
        case .textArray: .text
        case .varcharArray: .varchar
        case .int8Array: .int8
        case .float8Array: .float8
        case .timestampArray: .timestamp
        case .timestamptzArray: .timestamptz
        case .intervalArray: .interval
        case .uuidArray: .uuid
        default: nil
        }
    }

    /// Whether the binary form is the text's own bytes.
    var isText: Bool {
        switch self {
        case .text, .varchar, .bpchar, .name, .json, .unknown: true
        default: false
        }
    }

    /// The name for messages.
    var description: String {
        switch self {
        case .bool: "boolean"
        case .bytea: "bytea"
        case .name: "name"
        case .int8: "bigint"
        case .int2: "smallint"
        case .int4: "integer"
        case .text: "text"
        case .oid: "oid"
        case .json: "json"
        case .jsonb: "jsonb"
        case .float4: "real"
        case .float8: "double precision"
        case .unknown: "unknown"
        case .bpchar: "character"
        case .varchar: "varchar"
        case .timestamp: "timestamp"
        case .timestamptz: "timestamptz"
        case .interval: "interval"
        case .uuid: "uuid"
        case .void: "void"
        default: self.element.map { $0.description + "[]" } ?? "type \(self.rawValue)"
        }
    }
}
