// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Writes a document as devices read it best.
///
/// Members stand in Apple's order whatever order they came in, so that equal content has equal bytes: iOS tells packages
/// apart by the digests in the manifest.
///
/// Most of a document is in that form already; what is, is not copied.
enum PackageForm {
    static func object(_ object: JSONObject, as description: ObjectDescription) -> JSONObject {
        rewritten(object, as: description) ?? object
    }

    /// The object in package form, or nil when it is in that form as it stands.
    private static func rewritten(_ object: JSONObject, as description: ObjectDescription) -> JSONObject? {
        let unknown = description.fields.count
        // Gathered from the first member on that isn't as it should be; in most objects none is.
        var gathered: [(position: Int, name: String, value: JSONValue)]?
        var last = -1
        for (index, (name, value)) in object.members.enumerated() {
            let position = description.position(of: name) ?? unknown
            let isKept = !value.isNull
            let changed = isKept && position < unknown ? rewritten(value, description.fields[position].kind) : nil
            if gathered == nil, !isKept || position < last || changed != nil {
                gathered = object.members[..<index].map {
                    (description.position(of: $0.name) ?? unknown, $0.name, $0.value)
                }
            }
            guard isKept else { continue }
            last = position
            gathered?.append((position, name, changed ?? value))
        }
        guard var members = gathered else { return nil }
        // Stable by insertion: members that Apple does not know keep their sequence at the end.
        for index in members.indices.dropFirst() {
            var place = index
            while place > 0, members[place - 1].position > members[place].position {
                members.swapAt(place - 1, place)
                place -= 1
            }
        }
        return JSONObject(distinct: members.map { ($0.name, $0.value) })
    }

    private static func rewritten(_ value: JSONValue, _ kind: FieldKind) -> JSONValue? {
        switch (kind, value) {
        case (.object(let description), .object(let object)):
            return rewritten(object, as: description).map { .object($0) }
        case (.fulfillment, .object(let object)):
            return rewritten(object, as: FulfillmentShape.type(of: object).object).map { .object($0) }
        case (.list(let element), .array(let values)):
            var output: [JSONValue]?
            for (index, value) in values.enumerated() {
                guard let value = rewritten(value, element) else { continue }
                output = output ?? values
                output?[index] = value
            }
            return output.map { .array($0) }
        case (.amount, .number(let number)): return number.plainText(maximumLength: 64).map { .string($0) }
        case (.quantity, .string(let text)):
            // `007` is a decimal text but no JSON number.
            return (JSONNumber(text) ?? DecimalAmount(text).flatMap { JSONNumber($0.description) }).map { .number($0) }
        case (.dateTime, .string(let text)):
            if isWholeSecondUTC(text) { return nil }
            return (try? OrderDate(parsing: text)).map { .string($0.text) }
        default: return nil
        }
    }

    /// `2026-01-02T03:04:05Z` and nothing else, for a text that is known to be a date.
    private static func isWholeSecondUTC(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 20, bytes.last == 0x5A else { return false }
        for (index, byte) in bytes.enumerated() {
            if index == 10, byte != 0x54 { return false }
            // A leap second is written as the second behind it.
            if index == 17, byte == 0x36 { return false }
        }
        return true
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
