// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Writes a document as devices read it best.
///
/// Members stand in Apple's order whatever order they came in, so that equal content has equal bytes: iOS tells packages
/// apart by the digests in the manifest.
enum PackageForm {
    static func object(_ object: JSONObject, as description: ObjectDescription) -> JSONObject {
        var output = JSONObject()
        var written = 0
        for field in description.fields {
            guard let value = object[field.name] else { continue }
            written += 1
            if !value.isNull { output[field.name] = Self.value(value, field.kind) }
        }
        if written < object.count {
            for (name, value) in object where description.position(of: name) == nil && !value.isNull {
                output[name] = value
            }
        }
        return output
    }

    private static func value(_ value: JSONValue, _ kind: FieldKind) -> JSONValue {
        switch (kind, value) {
        case (.object(let description), .object(let object)): .object(Self.object(object, as: description))
        case (.fulfillment, .object(let object)):
            .object(Self.object(object, as: FulfillmentShape.type(of: object).object))
        case (.list(let element), .array(let values)): .array(values.map { Self.value($0, element) })
        case (.amount, .number(let number)): number.plainText(maximumLength: 64).map { .string($0) } ?? value
        case (.quantity, .string(let text)): JSONNumber(text).map { .number($0) } ?? value
        case (.dateTime, .string(let text)): (try? OrderDate(parsing: text)).map { .string($0.text) } ?? value
        default: value
        }
    }
}

extension OrderDocument {
    /// The bytes of `order.json`: amounts as text, dates in whole seconds UTC, quantities as numbers, members in Apple's
    /// order, compact. The same document and arguments give the same bytes on every machine.
    ///
    /// - Parameters:
    ///   - updatedAt: the revision's moment in seconds since 1970; it replaces what the document says.
    ///   - webServiceURL: the base in front of `/v1`; nil makes a static order that devices never ask about again.
    ///   - authenticationToken: the order's secret; it goes in only together with the URL.
    public func packageForm(updatedAt: Int64, webServiceURL: String?, authenticationToken: String?) -> [UInt8] {
        guard case .object(var order) = json else { return [] }
        order["updatedAt"] = .string(OrderDate(seconds: updatedAt).text)
        if order["schemaVersion"] == nil { order["schemaVersion"] = .number(JSONNumber(1)) }
        let pair = webServiceURL.flatMap { url in authenticationToken.map { (url, $0) } }
        order["webServiceURL"] = pair.map { .string($0.0) }
        order["authenticationToken"] = pair.map { .string($0.1) }
        return JSONValue.object(PackageForm.object(order, as: .order)).serialized(.compact)
    }

    /// The bytes of `order.json` with the document's own `updatedAt`, `webServiceURL` and `authenticationToken`: what the
    /// command line signs.
    public func packageForm() -> [UInt8] {
        packageForm(
            updatedAt: updatedAt,
            webServiceURL: json["webServiceURL"]?.stringValue,
            authenticationToken: json["authenticationToken"]?.stringValue
        )
    }
}
