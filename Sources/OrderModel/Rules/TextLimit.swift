// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// How many characters of a text a phone shows well. Apple only asks to keep texts short (Human Interface Guidelines,
/// "Wallet", order tracking); the numbers are our judgement: about two lines for a heading, a screen for notes.
enum TextLimit {
    /// By name of the field.
    static let characters: [String: Int] = [
        "orderNumber": 40, "displayName": 60, "title": 100, "subtitle": 100, "label": 40, "statusDescription": 200,
        "notes": 600, "altText": 60, "returnNumber": 40, "returnPolicyDescription": 300, "carrier": 40,
        "trackingNumber": 60,
    ]

    /// What to say about a text of the document that is too long. Localized texts are short there: they are keys.
    static func fault(_ value: JSONValue, _ field: FieldDescription) -> (message: String, fix: String)? {
        guard let limit = field.textLimit, case .string(let text) = value, let count = count(text, above: limit) else {
            return nil
        }
        return fault(count, limit, field.name)
    }

    /// How many characters a text has when they are more than the limit. Each has at least one byte, so most texts need no
    /// count.
    static func count(_ text: String, above limit: Int) -> Int? {
        guard text.utf8.count > limit else { return nil }
        let count = text.count
        return count > limit ? count : nil
    }

    static func fault(_ count: Int, _ limit: Int, _ field: String) -> (message: String, fix: String) {
        (
            "The text has \(count) characters; a phone shows about \(limit) of \"\(field)\" well",
            "Shorten it; longer explanations belong behind orderManagementURL."
        )
    }
}
