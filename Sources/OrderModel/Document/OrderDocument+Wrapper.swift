// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension OrderDocument {
    /// What to say of `{"order": {…}}`, as a create request has it and as the service shows orders, where the order itself is
    /// wanted: each of its members would be missing, one by one.
    ///
    /// - Returns: nil when the value is anything else.
    public static func wrapperFinding(_ json: JSONValue) -> Finding? {
        let around = ["order", "localizations", "orderTypeIdentifier", "orderIdentifier", "revision", "updatedAt"]
        guard let object = json.objectValue, object["order"]?.objectValue != nil,
            object.keys.allSatisfy({ $0.isExactly(oneOf: around) })
        else { return nil }
        return Finding(
            severity: .error,
            code: "unknown-member",
            pointer: JSONPointer(tokens: ["order"]),
            message: "The order stands inside the member \"order\"; here it is wanted by itself.",
            fix: "Send what \"order\" holds, {\"orderType\": …, \"merchant\": …}, without anything around it."
        )
    }
}
