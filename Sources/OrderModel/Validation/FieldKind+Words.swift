// SPDX-License-Identifier: Apache-2.0

extension FieldKind {
    /// The JSON type in words: "a string".
    var typeName: String {
        switch self {
        case .boolean: "a boolean"
        case .amount: "a string with a decimal number"
        case .quantity, .number, .positiveInteger, .schemaVersion: "a number"
        case .object, .fulfillment: "an object"
        case .list: "an array"
        default: "a string"
        }
    }

    /// What to send, to continue "Send" or "Add".
    var advice: String {
        switch self {
        case .text: "a text"
        case .identifier: "an identifier of 1 to 255 bytes"
        case .choice(let names):
            names.count == 1
                ? "\"\(names[0])\"" : "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
        case .url: "a URL such as https://www.example.com/orders"
        case .webServiceURL: "the https URL in front of /v1"
        case .token: "a random token of at least 16 characters"
        case .orderType: "the identifier of the Order Type ID certificate"
        case .dateTime: "a date and time like 2026-01-31T18:00:00Z"
        case .duration: "an ISO 8601 duration like PT30M"
        case .boolean: "true or false"
        case .amount: "a decimal number as text, like \"19.99\""
        case .currency: "a currency code like \"USD\""
        case .country: "a country code like \"US\""
        case .quantity: "a number above zero, like 1"
        case .number(let bounds): bounds.map { "a number from \($0.lowerBound) to \($0.upperBound)" } ?? "a number"
        case .positiveInteger: "a whole number above zero"
        case .schemaVersion: "the number 1"
        case .file: "the name of a file in the package, like logo.png"
        case .object(let description):
            "an object with "
                + ObjectDescription.list(
                    (description.fields.contains { $0.presence == .required }
                        ? description.fields.filter { $0.presence == .required } : description.fields).map(\.name)
                )
        case .list(let element): "an array, each element " + element.advice
        case .fulfillment: "an object with fulfillmentType, fulfillmentIdentifier and status"
        }
    }
}
