// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Writes a document as devices read it best, straight into the bytes of `order.json`.
///
/// Members stand in Apple's order whatever order they came in, so that equal content has equal bytes: iOS tells packages
/// apart by the digests in the manifest. Members that are null are left out; those that Apple doesn't know stay, behind
/// the others and in their sequence.
struct PackageForm {
    /// A member of the order that comes from the service; nil leaves it out.
    typealias Replacement = (position: Int, value: JSONValue?)

    private var writer: JSONWriter
    /// The members to write of the objects that are open, as position and index in one number, so that they sort by
    /// position and keep their sequence among those that have none.
    private var places: [Int] = []

    private init(capacity: Int) {
        writer = JSONWriter(style: .compact, capacity: capacity)
    }

    /// The bytes of an order.
    ///
    /// - Parameter replacements: members that are written instead of the object's own, each once.
    static func bytes(_ order: JSONObject, replacing replacements: [Replacement]) -> [UInt8] {
        var form = PackageForm(capacity: 4_096)
        form.write(order, as: .order, replacing: replacements)
        return form.writer.output
    }

    private mutating func write(
        _ object: JSONObject,
        as description: ObjectDescription,
        replacing replacements: [Replacement] = []
    ) {
        let members = object.members
        let start = places.count
        gather(members, description, replacements)
        let unknown = description.fields.count
        let labels = description.labels.bytes
        writer.write(byte: UInt8(ascii: "{"))
        for place in start..<places.count {
            let position = places[place] >> 32
            let index = places[place] & 0xFFFF_FFFF
            guard position < unknown else {
                if place > start { writer.write(byte: UInt8(ascii: ",")) }
                writer.write(members[index].name)
                writer.write(byte: UInt8(ascii: ":"))
                writer.write(members[index].value)
                continue
            }
            let label = description.labels.range(position, isFirst: place == start)
            if index >= members.count {
                writer.write(json: labels, label)
                writer.write(replacements[index - members.count].value ?? .null)
            } else if description.rewrittenFields & (1 << UInt64(position)) != 0 {
                writer.write(json: labels, label)
                write(members[index].value, description.fields[position].kind)
            } else if case .string(let text) = members[index].value {
                writer.write(json: labels, label, text)
            } else {
                writer.write(json: labels, label)
                writer.write(members[index].value)
            }
        }
        writer.write(byte: UInt8(ascii: "}"))
        places.removeLast(places.count - start)
    }

    /// Appends the places of the members in the order in which they are written.
    private mutating func gather(
        _ members: [JSONObject.Element],
        _ description: ObjectDescription,
        _ replacements: [Replacement]
    ) {
        let start = places.count
        let unknown = description.fields.count
        var replaced: UInt64 = 0
        for (position, _) in replacements { replaced |= 1 << UInt64(position) }
        var isSorted = true
        for index in members.indices where !members[index].value.isNull {
            let position = description.position(of: members[index].name) ?? unknown
            if position < unknown, replaced & (1 << UInt64(position)) != 0 { continue }
            if let last = places.last, places.count > start, position < last >> 32 { isSorted = false }
            places.append(position << 32 | index)
        }
        for (index, replacement) in replacements.enumerated() where replacement.value != nil {
            places.append(replacement.position << 32 | (members.count + index))
            isSorted = false
        }
        guard !isSorted else { return }
        // By insertion: the members that Apple knows are few, and the others are in order already.
        for index in (start + 1)..<max(places.count, start + 1) {
            var place = index
            while place > start, places[place - 1] > places[place] {
                places.swapAt(place - 1, place)
                place -= 1
            }
        }
    }

    private mutating func write(_ value: JSONValue, _ kind: FieldKind) {
        switch (kind, value) {
        case (.object(let description), .object(let object)): return write(object, as: description)
        case (.fulfillment, .object(let object)): return write(object, as: FulfillmentShape.type(of: object).object)
        case (.list(let element), .array(let values)):
            writer.write(byte: UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
                write(values[index], element)
            }
            return writer.write(byte: UInt8(ascii: "]"))
        case (.amount, .number(let number)):
            if let text = number.plainText(maximumLength: 64) { return writer.write(text) }
        case (.quantity, .string(let text)):
            // `007` is a decimal text but no JSON number.
            if let number = JSONNumber(text) ?? DecimalAmount(text).flatMap({ JSONNumber($0.description) }) {
                return writer.write(.number(number))
            }
        case (.dateTime, .string(let text)):
            if !Self.isWholeSecondUTC(text), let date = try? OrderDate(parsing: text) { return writer.write(date.text) }
        default: break
        }
        writer.write(value)
    }

    /// `2026-01-02T03:04:05Z` and nothing else, for a text that is known to be a date.
    private static func isWholeSecondUTC(_ text: String) -> Bool {
        let bytes = text.utf8.span
        // A leap second is written as the second behind it.
        return bytes.count == 20 && bytes[19] == 0x5A && bytes[10] == 0x54 && bytes[17] != 0x36
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
        guard case .object(let order) = json else { return [] }
        let pair = webServiceURL.flatMap { url in authenticationToken.map { (url, $0) } }
        let positions = Self.servicePositions
        var replacements: [PackageForm.Replacement] = [
            (positions.updatedAt, .string(OrderDate(seconds: updatedAt).text)),
            (positions.webServiceURL, pair.map { .string($0.0) }),
            (positions.authenticationToken, pair.map { .string($0.1) }),
        ]
        if order["schemaVersion"] == nil { replacements.append((positions.schemaVersion, .number(JSONNumber(1)))) }
        return PackageForm.bytes(order, replacing: replacements)
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

    private static let servicePositions = (
        schemaVersion: position("schemaVersion"),
        updatedAt: position("updatedAt"),
        webServiceURL: position("webServiceURL"),
        authenticationToken: position("authenticationToken")
    )

    private static func position(_ name: String) -> Int {
        guard let position = ObjectDescription.order.position(of: name) else { fatalError("an order has \(name)") }
        return position
    }
}
