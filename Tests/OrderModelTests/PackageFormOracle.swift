// SPDX-License-Identifier: Apache-2.0

import ExactJSON

@testable import OrderModel

/// The package form made the plain way: a tree is rewritten value by value and then serialized. What the product writes
/// straight into bytes is held against it.
enum PackageFormOracle {
    static func bytes(
        _ document: OrderDocument,
        updatedAt: Int64,
        webServiceURL: String?,
        authenticationToken: String?
    ) -> [UInt8] {
        guard case .object(var order) = document.json else { return [] }
        order["updatedAt"] = .string(OrderDate(seconds: updatedAt).text)
        if order["schemaVersion"] == nil { order["schemaVersion"] = .number(JSONNumber(1)) }
        order.remove("webServiceURL")
        order.remove("authenticationToken")
        if let webServiceURL, let authenticationToken {
            order["webServiceURL"] = .string(webServiceURL)
            order["authenticationToken"] = .string(authenticationToken)
        }
        return JSONValue.object(self.object(order, as: .order)).serialized(.compact)
    }

    private static func object(_ object: JSONObject, as description: ObjectDescription) -> JSONObject {
        var known: [(String, JSONValue)] = []
        for field in description.fields {
            guard let value = object[field.name], !value.isNull else { continue }
            known.append((field.name, self.value(value, field.kind)))
        }
        let names = Set(description.fields.map(\.name))
        let unknown = object.filter { !names.contains($0.name) && !$0.value.isNull }
        return JSONObject(known + unknown.members.map { ($0.name, $0.value) })
    }

    private static func value(_ value: JSONValue, _ kind: FieldKind) -> JSONValue {
        switch (kind, value) {
        case (.object(let description), .object(let object)): return .object(self.object(object, as: description))
        case (.fulfillment, .object(let object)):
            return .object(self.object(object, as: FulfillmentShape.type(of: object).object))
        case (.list(let element), .array(let values)): return .array(values.map { self.value($0, element) })
        case (.amount, .number(let number)):
            return number.plainText(maximumLength: 64).map { .string($0) } ?? value
        case (.quantity, .string(let text)):
            let number = JSONNumber(text) ?? DecimalAmount(text).flatMap { JSONNumber($0.description) }
            return number.map { .number($0) } ?? value
        case (.dateTime, .string(let text)):
            return (try? OrderDate(parsing: text)).map { .string($0.text) } ?? value
        default: return value
        }
    }
}
