// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// What can stand in a field of an order: how it is read from JSON, and how it is written.
///
/// Reading does not judge: it runs on documents that validation has passed, and takes all that validation passes.
protocol FieldValue: Sendable, Hashable {
    /// - Throws: ``FieldFault`` when the value is none of this kind.
    init(field value: JSONValue) throws(FieldFault)
    /// The value in a document.
    var field: JSONValue { get }
}

/// The place in a document where reading found what validation can't have passed.
struct FieldFault: Error {
    /// From the innermost name outwards.
    private var names: [String] = []

    func inside(_ name: String) -> FieldFault {
        var fault = self
        fault.names.append(name)
        return fault
    }

    var pointer: JSONPointer { JSONPointer(tokens: names.reversed()) }
}

extension String: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .string(let text) = value else { throw FieldFault() }
        self = text
    }

    var field: JSONValue { .string(self) }
}

extension Bool: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .bool(let bool) = value else { throw FieldFault() }
        self = bool
    }

    var field: JSONValue { .bool(self) }
}

extension Int64: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard let number = value.int64Value else { throw FieldFault() }
        self = number
    }

    var field: JSONValue { .number(JSONNumber(self)) }
}

extension JSONNumber: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .number(let number) = value else { throw FieldFault() }
        self = number
    }

    var field: JSONValue { .number(self) }
}

extension Array: FieldValue where Element: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .array(let values) = value else { throw FieldFault() }
        self = []
        reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            do throws(FieldFault) {
                append(try Element(field: value))
            } catch {
                throw error.inside(String(index))
            }
        }
    }

    var field: JSONValue { .array(map(\.field)) }
}

/// One of a list of texts.
protocol FieldChoice: FieldValue, RawRepresentable, CaseIterable where RawValue == String {}

extension FieldChoice {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .string(let text) = value, let choice = Self(exactly: text) else { throw FieldFault() }
        self = choice
    }

    var field: JSONValue { .string(rawValue) }
}

/// A text whose type says what it names.
protocol FieldIdentifier: FieldValue {
    init(_ text: String) throws(IdentifierError)
    var text: String { get }
}

extension FieldIdentifier {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .string(let text) = value, let identifier = try? Self(text) else { throw FieldFault() }
        self = identifier
    }

    var field: JSONValue { .string(text) }
}

extension OrderTypeIdentifier: FieldIdentifier {}
extension OrderIdentifier: FieldIdentifier {}
extension MerchantIdentifier: FieldIdentifier {}
extension FulfillmentIdentifier: FieldIdentifier {}
extension ReturnIdentifier: FieldIdentifier {}
extension AuthenticationToken: FieldIdentifier {}
extension FileName: FieldIdentifier {}
