// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The forms of single values, each as a schema under `$defs`.
///
/// Patterns hold ASCII classes only and no look-around, so that they mean the same in every dialect of regular
/// expressions. Some dialects let `$` match in front of a last line break: `not` keeps line breaks out there.
enum ScalarSchemas {
    static let all: KeyValuePairs<String, JSONValue> = [
        "identifier": [
            "title": "Identifier",
            "description": "An opaque name: 1 to 255 bytes of UTF-8 without control characters.",
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "not": ["pattern": #"[\u0000-\u001F\u007F-\u009F]"#],
        ],
        "orderTypeIdentifier": [
            "title": "Order type identifier",
            "description": "A reverse-DNS name, such as order.com.example.shop.",
            "type": "string",
            "maxLength": 255,
            "pattern": #"^[A-Za-z0-9-]+([.][A-Za-z0-9-]+)+$"#,
            "not": lineBreak,
        ],
        "authenticationToken": [
            "title": "Authentication token",
            "description": "A secret of 16 to 2,048 visible ASCII characters.",
            "type": "string",
            "minLength": 16,
            "maxLength": 2048,
            "pattern": "^[!-~]+$",
            "not": lineBreak,
        ],
        "url": [
            "title": "URL",
            "description": "A URL with its scheme (RFC 3986) of at most 8,000 characters; other than ASCII is escaped.",
            "type": "string",
            "format": "uri",
            "maxLength": 8000,
            "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$",
            "not": lineBreak,
            "if": ["pattern": "^[Hh][Tt][Tt][Pp][Ss]?:"],
            "then": ["$comment": "A host is named.", "pattern": "^[^:]+://([^/?#@]*@)?[^/?#@:][^/?#@]*([/?#]|$)"],
        ],
        "webServiceURL": [
            "title": "Web service URL",
            "description": "An https URL without query and fragment that does not end in /v1: devices append that.",
            "$ref": "#/$defs/url",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]://[^?#]+$",
            "not": ["pattern": "^[^:]+://[^/]+(/.*)?/v1/*$"],
        ],
        "dateTime": [
            "title": "Date and time",
            "description": .string(
                "A date and time by RFC 3339 with seconds and time zone, best in whole seconds and capitals."
            ),
            "type": "string",
            "format": "date-time",
            "maxLength": 64,
            "pattern": .string(
                "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
            ),
            "not": lineBreak,
            "examples": ["2026-01-31T18:00:00Z"],
        ],
        "duration": [
            "title": "Duration",
            "description": "A duration by ISO 8601-1 in whole units.",
            "$comment": .string(
                "Not the format duration: the grammar of RFC 3339 that it stands for forbids to leave a unit out, as in "
                    + "PT1H30S."
            ),
            "type": "string",
            "pattern": .string(duration),
            "not": lineBreak,
            "examples": ["PT30M", "P1DT2H"],
        ],
        "amount": [
            "title": "Amount",
            "description": .string(
                "A decimal number, best as text with a point and nothing else; a JSON number goes into the package as "
                    + "text."
            ),
            "type": ["string", "number"],
            "maxLength": 32,
            "pattern": "^-?[0-9]+([.][0-9]+)?$",
            "not": ["type": "string", "pattern": #"\n"#],
            "examples": ["19.99"],
        ],
        "currencyCode": [
            "title": "Currency",
            "description": "A currency code of ISO 4217.",
            "enum": .array(Currency.codes.map { .string($0) }),
        ],
        "countryCode": [
            "title": "Country",
            "description": "A country code of ISO 3166 with two letters.",
            "type": "string",
            "minLength": 2,
            "maxLength": 2,
            "pattern": "^[A-Za-z]{2}$",
            "examples": ["US"],
        ],
        "quantity": [
            "title": "Quantity",
            "description": .string(
                "A number, best above zero. Text is taken, too; it goes into the package as a number."
            ),
            "type": ["number", "string"],
            "minimum": 0,
            "maxLength": 32,
            "pattern": "^[0-9]+([.][0-9]+)?$",
            "not": ["type": "string", "pattern": #"\n"#],
            "examples": [1],
        ],
        "fileName": [
            "title": "File",
            "description": .string(
                "The name of a file in the package, of at most 255 bytes; localized variants lie in <locale>.lproj "
                    + "folders."
            ),
            "$comment": .string(
                "No control characters, no backslash, no part that is empty, a dot or two dots, no drive letter, and none "
                    + "of the package's own files."
            ),
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "not": [
                "pattern": .string(#"[\u0000-\u001F\u007F-\u009F\\]|(^|/)[.]?[.]?(/|$)|^[ -~]:|"# + ownFiles)
            ],
            "examples": ["logo.png"],
        ],
    ]

    /// The names of ``FileName/reserved``, in whatever case.
    private static let ownFiles: String = {
        func caseless(_ name: String) -> String {
            name.map { $0 == "." ? "[.]" : $0.isLetter ? "[\($0.uppercased())\($0)]" : String($0) }.joined()
        }
        return "^(" + FileName.reserved.map(caseless).joined(separator: "|") + ")$"
    }()

    private static let lineBreak: JSONValue = ["pattern": #"\n"#]

    /// Weeks alone, or the other units in their order; at least one, of up to nine digits.
    private static let duration: String = {
        func run(_ units: String) -> String {
            let amount = "[0-9]{1,9}"
            let letters = units.map(String.init)
            return letters.indices.map { first in
                amount + letters[first] + letters[(first + 1)...].map { "(\(amount)\($0))?" }.joined()
            }.joined(separator: "|")
        }
        return "^P([0-9]{1,9}W|(\(run("YMD")))(T(\(run("HMS"))))?|T(\(run("HMS"))))$"
    }()
}

extension FieldKind {
    /// The schema of a value; one that may be left out may also be null, which counts as absent.
    func schema(orNull: Bool) -> JSONObject {
        func typed(_ name: String) -> JSONObject {
            ["type": orNull ? [.string(name), "null"] : .string(name)]
        }
        func named(_ name: String) -> JSONObject {
            let reference: JSONValue = ["$ref": .string("#/$defs/\(name)")]
            if orNull { return ["anyOf": [reference, ["type": "null"]]] }
            return reference.objectValue ?? [:]
        }
        switch self {
        case .text: return typed("string")
        case .boolean: return typed("boolean")
        case .choice(let names):
            var schema = typed("string")
            schema["enum"] = .array(names.map { .string($0) } + (orNull ? [.null] : []))
            return schema
        case .schemaVersion: return ["type": "integer", "enum": [1, 2]]
        case .number(let bounds):
            var schema = typed("number")
            if let bounds {
                schema["minimum"] = .number(JSONNumber(Int64(bounds.lowerBound)))
                schema["maximum"] = .number(JSONNumber(Int64(bounds.upperBound)))
            }
            return schema
        case .positiveInteger:
            var schema = typed("integer")
            schema["minimum"] = 1
            schema["maximum"] = .number(JSONNumber(.max))
            return schema
        case .list(let element):
            var schema = typed("array")
            schema["items"] = .object(element.schema(orNull: false))
            return schema
        case .object(let description): return named(description.name)
        case .fulfillment: return named("Fulfillment")
        case .identifier: return named("identifier")
        case .url: return named("url")
        case .webServiceURL: return named("webServiceURL")
        case .token: return named("authenticationToken")
        case .orderType: return named("orderTypeIdentifier")
        case .dateTime: return named("dateTime")
        case .duration: return named("duration")
        case .amount: return named("amount")
        case .currency: return named("currencyCode")
        case .country: return named("countryCode")
        case .quantity: return named("quantity")
        case .file: return named("fileName")
        }
    }
}
