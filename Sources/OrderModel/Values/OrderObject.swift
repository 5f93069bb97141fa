// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// An object of Apple's model as a Swift value.
///
/// Each field is a stored property of the same name, one line in `init(reading:)` and one in `write(to:)`. A test holds
/// properties, reading and writing to the table.
protocol OrderObject: FieldValue {
    /// The object's fields.
    static var table: ObjectDescription { get }
    /// Members that the table does not have.
    var unknownFields: JSONObject { get }
    init(reading fields: FieldReader) throws(FieldFault)
    /// Writes the fields of the table in its order.
    func write(to fields: inout FieldWriter)
}

extension OrderObject {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .object(let object) = value else { throw FieldFault() }
        try self.init(reading: FieldReader(object, Self.table))
    }

    var field: JSONValue {
        var fields = FieldWriter()
        write(to: &fields)
        return .object(fields.object(with: unknownFields))
    }
}

/// The members of an object on their way into a Swift value.
struct FieldReader {
    private let object: JSONObject
    private let table: ObjectDescription

    init(_ object: JSONObject, _ table: ObjectDescription) {
        self.object = object
        self.table = table
    }

    /// A field that is there.
    func required<Value: FieldValue>(_ name: String) throws(FieldFault) -> Value {
        guard let value: Value = try optional(name) else { throw FieldFault().inside(name) }
        return value
    }

    /// A field that may be missing; null counts as missing, as on devices.
    func optional<Value: FieldValue>(_ name: String) throws(FieldFault) -> Value? {
        guard let value = object[name], !value.isNull else { return nil }
        do throws(FieldFault) {
            return try Value(field: value)
        } catch {
            throw error.inside(name)
        }
    }

    /// The members that the table does not have, in their order.
    var unknown: JSONObject { object.filter { table.position(of: $0.name) == nil } }
}

/// The members of an object on their way into a document.
struct FieldWriter {
    private var members: [(String, JSONValue)] = []

    /// Adds a field unless it is nil.
    mutating func put(_ name: String, _ value: (some FieldValue)?) {
        if let value { members.append((name, value.field)) }
    }

    /// The object, with members of other names behind those that were put.
    func object(with unknown: JSONObject) -> JSONObject {
        var object = JSONObject(members)
        for (name, value) in unknown where !object.contains(name) { object[name] = value }
        return object
    }
}
