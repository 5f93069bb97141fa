// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order.ShippingFulfillment {
    /// Who receives a parcel. Apple: WalletOrders, `ShippingFulfillment.Recipient`.
    public struct Recipient: Sendable, Hashable {
        /// The given name.
        public var givenName: String?
        /// The family name.
        public var familyName: String?
        /// The company that receives it.
        public var organizationName: String?
        /// Where to.
        public var address: Order.Address?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a recipient together; what is left out is nil.
        public init(
            givenName: String? = nil,
            familyName: String? = nil,
            organizationName: String? = nil,
            address: Order.Address? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.givenName = givenName
            self.familyName = familyName
            self.organizationName = organizationName
            self.address = address
            self.unknownFields = unknownFields
        }
    }
}

extension Order.ShippingFulfillment.Recipient: OrderObject {
    static var table: ObjectDescription { .recipient }

    init(reading fields: FieldReader) throws(FieldFault) {
        givenName = try fields.optional("givenName")
        familyName = try fields.optional("familyName")
        organizationName = try fields.optional("organizationName")
        address = try fields.optional("address")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("givenName", givenName)
        fields.put("familyName", familyName)
        fields.put("organizationName", organizationName)
        fields.put("address", address)
    }
}
