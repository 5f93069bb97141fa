// SPDX-License-Identifier: Apache-2.0

/// One compiled schema object. Schemas inside it are named by their position in the list of nodes, so that they may
/// refer to each other in circles.
final class SchemaNode: Sendable {
    /// `true` and `false` as schemas.
    let constant: Bool?
    /// The schema resource it belongs to, for dynamic references.
    let resource: Int
    /// Its absolute location.
    let location: String
    let types: TypeSet?
    let allowed: Allowed?
    let numbers: NumberRules?
    let strings: StringRules?
    let arrays: ArrayRules?
    let objects: ObjectRules?
    let combinations: Combinations?
    /// The schema for elements or members that nothing else has looked at.
    let unevaluatedItems: Int?
    let unevaluatedProperties: Int?

    init(
        constant: Bool?,
        resource: Int,
        location: String,
        types: TypeSet? = nil,
        allowed: Allowed? = nil,
        numbers: NumberRules? = nil,
        strings: StringRules? = nil,
        arrays: ArrayRules? = nil,
        objects: ObjectRules? = nil,
        combinations: Combinations? = nil,
        unevaluatedItems: Int? = nil,
        unevaluatedProperties: Int? = nil
    ) {
        self.constant = constant
        self.resource = resource
        self.location = location
        self.types = types
        self.allowed = allowed
        self.numbers = numbers
        self.strings = strings
        self.arrays = arrays
        self.objects = objects
        self.combinations = combinations
        self.unevaluatedItems = unevaluatedItems
        self.unevaluatedProperties = unevaluatedProperties
    }

    /// `enum` or `const`.
    struct Allowed: Sendable {
        let keyword: String
        let values: [JSONValue]
        /// The values again for quick lookup, when there are many.
        let set: Set<JSONValue>?

        func contains(_ value: JSONValue) -> Bool { set?.contains(value) ?? values.contains(value) }
    }

    struct NumberRules: Sendable {
        var minimum: JSONNumber?
        var maximum: JSONNumber?
        var exclusiveMinimum: JSONNumber?
        var exclusiveMaximum: JSONNumber?
        var multipleOf: JSONNumber?
    }

    struct StringRules: Sendable {
        var minimumLength: Int?
        var maximumLength: Int?
        var pattern: Pattern?
        var format: TextFormat?
    }

    struct ArrayRules: Sendable {
        var prefix: [Int] = []
        var items: Int?
        var contains: Int?
        var minimumContains: Int?
        var maximumContains: Int?
        var minimumCount: Int?
        var maximumCount: Int?
        var isUnique = false
    }

    struct ObjectRules: Sendable {
        var properties: [ExactKey: Int] = [:]
        var patterns: [(pattern: Pattern, schema: Int)] = []
        var additional: Int?
        var names: Int?
        var required: [String] = []
        var dependentRequired: [(name: String, required: [String])] = []
        var dependentSchemas: [(name: String, schema: Int)] = []
        var minimumCount: Int?
        var maximumCount: Int?

        /// Whether members have to be gone through one by one.
        var looksAtMembers: Bool { !properties.isEmpty || !patterns.isEmpty || additional != nil || names != nil }
    }

    /// Keywords that apply other schemas to the same value.
    struct Combinations: Sendable {
        var reference: Int?
        var dynamicReference: (schema: Int, anchor: String?)?
        var all: [Int] = []
        var any: [Int] = []
        var one: [Int] = []
        var not: Int?
        var condition: Int?
        var then: Int?
        var otherwise: Int?
    }

    /// The names of `type`, as a set.
    struct TypeSet: OptionSet, Sendable {
        let rawValue: UInt8
        static let null = TypeSet(rawValue: 1)
        static let boolean = TypeSet(rawValue: 2)
        static let number = TypeSet(rawValue: 4)
        static let integer = TypeSet(rawValue: 8)
        static let string = TypeSet(rawValue: 16)
        static let array = TypeSet(rawValue: 32)
        static let object = TypeSet(rawValue: 64)

        /// The names in the order of the bits.
        static let names = ["null", "boolean", "number", "integer", "string", "array", "object"]

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init?(name: String) {
            guard let position = Self.names.firstIndex(where: { name.isExactly($0) }) else { return nil }
            rawValue = 1 << UInt8(position)
        }

        /// The names in the set.
        var names: [String] {
            Self.names.indices.filter { rawValue >> UInt8($0) & 1 == 1 }.map { Self.names[$0] }
        }

        func admits(_ value: JSONValue) -> Bool {
            switch value {
            case .null: contains(.null)
            case .bool: contains(.boolean)
            case .number(let number): contains(.number) || contains(.integer) && number.isInteger
            case .string: contains(.string)
            case .array: contains(.array)
            case .object: contains(.object)
            }
        }
    }
}
