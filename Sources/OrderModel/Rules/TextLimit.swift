// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// How many characters of a text a phone shows well. Apple only asks to keep texts short (Human Interface Guidelines,
/// "Wallet", order tracking); the numbers are our judgement: about two lines for a heading, a screen for notes.
enum TextLimit {
    private static let characters: [String: Int] = [
        "orderNumber": 40, "displayName": 60, "title": 100, "subtitle": 100, "label": 40, "statusDescription": 200,
        "notes": 600, "altText": 60, "returnNumber": 40, "returnPolicyDescription": 300, "carrier": 40,
        "trackingNumber": 60,
    ]

    /// What to say about a text that is too long. Localized texts are short here: they are keys.
    static func fault(
        _ value: JSONValue,
        _ field: FieldDescription,
        in description: ObjectDescription
    ) -> (message: String, fix: String)? {
        // A character has at least one byte, so most texts need no count.
        guard case .string(let text) = value, let limit = characters[field.name], text.utf8.count > limit,
            text.count > limit
        else { return nil }
        return (
            "The text has \(text.count) characters; a phone shows about \(limit) of \"\(field.name)\" well",
            "Shorten it; longer explanations belong behind orderManagementURL."
        )
    }
}
