// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Apple's model as a JSON Schema (draft 2020-12), made of the same tables that the checks go along.
///
/// It says what one document's shape can say. What it can't (sums, order of dates, identifiers used twice, lengths in
/// bytes) are the rules beyond it; ``ruleCodes`` names them.
public enum OrderSchema {
    /// The schema's own URI.
    public static let identifier = "https://walletorders.example.com/schemas/order.schema.json"

    /// The schema.
    public static let json: JSONValue = {
        var root: JSONObject = ["$schema": "https://json-schema.org/draft/2020-12/schema"]
        root["$id"] = .string(identifier)
        for (name, value) in object(.order) { root[name] = value }
        root["allOf"] = [tokenComesWithURL, urlComesWithToken, version1NeedsPaymentStatus]
        var definitions = JSONObject()
        for description in objects { definitions[description.name] = .object(object(description)) }
        definitions["Fulfillment"] = fulfillment
        for (name, schema) in ScalarSchemas.all { definitions[name] = schema }
        root["$defs"] = .object(definitions)
        return .object(root)
    }()

    /// The text of the file `Schemas/order.schema.json`.
    public static let text = String(decoding: json.serialized(.pretty), as: UTF8.self)

    /// The codes of errors that no schema of one document can express. Every other error that validation of a whole
    /// document gives out is one that this schema finds, too.
    public static let ruleCodes: Set<String> = [
        "bad-number", "date-out-of-range", "duplicate-identifier", "file-embedded", "file-name-too-long",
        "identifier-too-long", "identifier-unreachable", "newer-than-target", "updated-before-created",
        "updated-without-change", "web-service-url-authority",
    ]

    /// Every object below the order, each once, in the order they are met.
    static let objects: [ObjectDescription] = {
        var found: [ObjectDescription] = []
        func visit(_ kind: FieldKind) {
            switch kind {
            case .list(let element): visit(element)
            case .fulfillment: FulfillmentType.allCases.forEach { visit(.object($0.object)) }
            case .object(let description):
                if found.contains(where: { $0 === description }) { return }
                if description !== ObjectDescription.order { found.append(description) }
                for field in description.fields { visit(field.kind) }
            default: break
            }
        }
        visit(.object(.order))
        return found
    }()

    private static func object(_ description: ObjectDescription) -> JSONObject {
        var properties = JSONObject()
        for field in description.fields { properties[field.name] = .object(property(field, of: description)) }
        let required = description.fields.filter { $0.presence == .required }
        var schema: JSONObject = ["title": .string(description.name)]
        schema["description"] = .string(description.meaning + since(description.since, after: .ios16))
        schema["$comment"] = .string("Apple: \(page(description))")
        schema["type"] = "object"
        schema["properties"] = .object(properties)
        if !required.isEmpty { schema["required"] = .array(required.map { .string($0.name) }) }
        schema["additionalProperties"] = false
        return schema
    }

    /// Where Apple describes the object.
    private static func page(_ description: ObjectDescription) -> String {
        let path = description.name.lowercased().split(separator: ".").joined(separator: "/")
        return "https://developer.apple.com/documentation/walletorders/" + path
    }

    private static func property(_ field: FieldDescription, of description: ObjectDescription) -> JSONObject {
        var text = field.meaning
        if field.isLocalizable { text += " Looked up in order.strings." }
        text += since(field.since, after: description.since)
        var schema: JSONObject = ["title": .string(title(of: field.name))]
        schema["description"] = .string(text)
        if field.name == "fulfillmentType",
            let type = FulfillmentType.allCases.first(where: { $0.object === description })
        {
            schema["const"] = .string(type.rawValue)
            return schema
        }
        // null counts as absent: where a member has to be, its schema has to refuse null.
        let form = field.kind.schema(orNull: field.presence != .required)
        for (name, value) in form { schema[name] = value }
        return schema
    }

    /// What an editor shows for a member: `orderManagementURL` is an "Order management URL".
    static func title(of name: String) -> String {
        if ["gtin", "sku", "url"].contains(name) { return name.uppercased() }
        var words: [String] = []
        for letter in name {
            // A run of capitals is one word.
            if letter.isUppercase, words.last?.last?.isUppercase != true {
                words.append(String(letter))
            } else {
                words.append((words.popLast() ?? "") + String(letter))
            }
        }
        return words.enumerated().map { index, word in
            if word.isExactly("Pay"), index > 0, words[index - 1].lowercased().isExactly("apple") { return word }
            if word.isExactly("Apple"), index + 1 < words.count, words[index + 1].isExactly("Pay") { return word }
            if index == 0 { return word.prefix(1).uppercased() + word.dropFirst() }
            return word == word.uppercased() && word.count > 1 ? word : word.lowercased()
        }.joined(separator: " ")
    }

    private static func since(_ release: AppleRelease, after known: AppleRelease) -> String {
        release > known ? " Since iOS \(release.rawValue)." : ""
    }

    // MARK: What several members say together

    /// The object is chosen by `fulfillmentType`, so that a fault in a parcel is told as one, and an unknown type as that alone.
    private static let fulfillment: JSONValue = {
        func branch(_ type: FulfillmentType) -> JSONValue {
            [
                "if": [
                    "properties": ["fulfillmentType": ["const": .string(type.rawValue)]],
                    "required": ["fulfillmentType"],
                ],
                "then": ["$ref": .string("#/$defs/\(type.object.name)")],
            ]
        }
        return [
            "title": "Fulfillment",
            "description": "A parcel or a pickup, told apart by fulfillmentType.",
            "type": "object",
            "properties": ["fulfillmentType": ["enum": .array(FulfillmentType.names.map { .string($0) })]],
            "required": ["fulfillmentType"],
            "allOf": .array(FulfillmentType.allCases.map(branch)),
        ]
    }()

    private static let tokenComesWithURL = pair("webServiceURL", needs: "authenticationToken")
    private static let urlComesWithToken = pair("authenticationToken", needs: "webServiceURL")

    private static func pair(_ name: String, needs other: String) -> JSONValue {
        [
            "if": ["properties": .object([name: ["type": "string"]]), "required": [.string(name)]],
            "then": ["properties": .object([other: ["type": "string"]]), "required": [.string(other)]],
        ]
    }

    private static let version1NeedsPaymentStatus: JSONValue = [
        "if": ["properties": ["schemaVersion": ["const": 2]], "required": ["schemaVersion"]],
        "else": [
            "properties": [
                "payment": [
                    "if": ["type": "object"],
                    "then": ["properties": ["status": ["type": "string"]], "required": ["status"]],
                ]
            ]
        ],
    ]
}
