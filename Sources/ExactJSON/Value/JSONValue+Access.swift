// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The text of a string, nil for anything else.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an array, nil for anything else.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an object, nil for anything else.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// A boolean, nil for anything else.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// A number, nil for anything else.
    public var numberValue: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// A number that is whole and fits 64 bits (`1`, `1.0` and `1e0` alike), nil for anything else.
    public var int64Value: Int64? { numberValue?.int64Value }

    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The kind of value in JSON Schema's words, for messages: null, boolean, number, string, array or object.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The kind of value with its article, for sentences: null, a boolean, a number, a string, an array or an object.
    public var typePhrase: String {
        switch self {
        case .null: "null"
        case .array, .object: "an " + typeName
        default: "a " + typeName
        }
    }

    /// A member of an object; nil when there is none, or this is no object.
    public subscript(key: String) -> JSONValue? { objectValue?[key] }

    /// An element of an array; nil when out of range, or this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}
