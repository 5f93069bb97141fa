// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// Who sells. Apple: WalletOrders, `Merchant`.
    public struct Merchant: Sendable, Hashable {
        /// The merchant's identifier in Apple's developer portal.
        public var merchantIdentifier: MerchantIdentifier
        /// The name that customers know. Localizable.
        public var displayName: String
        /// The website or landing page.
        public var url: URI
        /// The name of the logo in the package: PNG or JPEG.
        public var logo: FileName?
        /// The contact address.
        public var address: Address?
        /// Where to write in Messages for Business.
        public var businessChatURL: URI?
        /// The contact page.
        public var contactURL: URI?
        /// Where mail reaches the merchant.
        public var emailAddress: String?
        /// Where calls reach the merchant.
        public var phoneNumber: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a merchant together; what is left out is nil.
        public init(
            merchantIdentifier: MerchantIdentifier,
            displayName: String,
            url: URI,
            logo: FileName? = nil,
            address: Address? = nil,
            businessChatURL: URI? = nil,
            contactURL: URI? = nil,
            emailAddress: String? = nil,
            phoneNumber: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.merchantIdentifier = merchantIdentifier
            self.displayName = displayName
            self.url = url
            self.logo = logo
            self.address = address
            self.businessChatURL = businessChatURL
            self.contactURL = contactURL
            self.emailAddress = emailAddress
            self.phoneNumber = phoneNumber
            self.unknownFields = unknownFields
        }
    }
}

extension Order.Merchant: OrderObject {
    static var table: ObjectDescription { .merchant }

    init(reading fields: FieldReader) throws(FieldFault) {
        merchantIdentifier = try fields.required("merchantIdentifier")
        displayName = try fields.required("displayName")
        url = try fields.required("url")
        logo = try fields.optional("logo")
        address = try fields.optional("address")
        businessChatURL = try fields.optional("businessChatURL")
        contactURL = try fields.optional("contactURL")
        emailAddress = try fields.optional("emailAddress")
        phoneNumber = try fields.optional("phoneNumber")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("merchantIdentifier", merchantIdentifier)
        fields.put("displayName", displayName)
        fields.put("url", url)
        fields.put("logo", logo)
        fields.put("address", address)
        fields.put("businessChatURL", businessChatURL)
        fields.put("contactURL", contactURL)
        fields.put("emailAddress", emailAddress)
        fields.put("phoneNumber", phoneNumber)
    }
}
