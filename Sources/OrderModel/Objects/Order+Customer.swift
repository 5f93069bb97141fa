// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// Who bought. Apple: WalletOrders, `Customer`.
    public struct Customer: Sendable, Hashable {
        /// The given name.
        public var givenName: String?
        /// The family name.
        public var familyName: String?
        /// The company, when one bought.
        public var organizationName: String?
        /// Where mail reaches the customer.
        public var emailAddress: String?
        /// Where calls reach the customer.
        public var phoneNumber: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a customer together; what is left out is nil.
        public init(
            givenName: String? = nil,
            familyName: String? = nil,
            organizationName: String? = nil,
            emailAddress: String? = nil,
            phoneNumber: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.givenName = givenName
            self.familyName = familyName
            self.organizationName = organizationName
            self.emailAddress = emailAddress
            self.phoneNumber = phoneNumber
            self.unknownFields = unknownFields
        }
    }
}

extension Order.Customer: OrderObject {
    static var table: ObjectDescription { .customer }

    init(reading fields: FieldReader) throws(FieldFault) {
        givenName = try fields.optional("givenName")
        familyName = try fields.optional("familyName")
        organizationName = try fields.optional("organizationName")
        emailAddress = try fields.optional("emailAddress")
        phoneNumber = try fields.optional("phoneNumber")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("givenName", givenName)
        fields.put("familyName", familyName)
        fields.put("organizationName", organizationName)
        fields.put("emailAddress", emailAddress)
        fields.put("phoneNumber", phoneNumber)
    }
}
