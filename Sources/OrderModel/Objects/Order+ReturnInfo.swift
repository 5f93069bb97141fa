// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// The terms of returning goods. Since iOS 17.2. Apple: WalletOrders, `ReturnInfo`.
    public struct ReturnInfo: Sendable, Hashable {
        /// The page with the terms.
        public var returnPolicyURL: URI
        /// The terms in a few words.
        public var returnPolicyDescription: String?
        /// Where the customer starts a return.
        public var returnManagementURL: URI?
        /// Until when items can go back; until then a `completed` order may still change.
        public var returnDeadline: DateTime?
        /// Whether Wallet counts down to `returnDeadline`; nil is no. Only right when all items can go back until then.
        public var displayCountdown: Bool?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts the terms together; what is left out is nil.
        public init(
            returnPolicyURL: URI,
            returnPolicyDescription: String? = nil,
            returnManagementURL: URI? = nil,
            returnDeadline: DateTime? = nil,
            displayCountdown: Bool? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.returnPolicyURL = returnPolicyURL
            self.returnPolicyDescription = returnPolicyDescription
            self.returnManagementURL = returnManagementURL
            self.returnDeadline = returnDeadline
            self.displayCountdown = displayCountdown
            self.unknownFields = unknownFields
        }
    }
}

extension Order.ReturnInfo: OrderObject {
    static var table: ObjectDescription { .returnInfo }

    init(reading fields: FieldReader) throws(FieldFault) {
        returnPolicyURL = try fields.required("returnPolicyURL")
        returnPolicyDescription = try fields.optional("returnPolicyDescription")
        returnManagementURL = try fields.optional("returnManagementURL")
        returnDeadline = try fields.optional("returnDeadline")
        displayCountdown = try fields.optional("displayCountdown")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("returnPolicyURL", returnPolicyURL)
        fields.put("returnPolicyDescription", returnPolicyDescription)
        fields.put("returnManagementURL", returnManagementURL)
        fields.put("returnDeadline", returnDeadline)
        fields.put("displayCountdown", displayCountdown)
    }
}
