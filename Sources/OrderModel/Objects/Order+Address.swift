// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// A postal address. Apple: WalletOrders, `Address`.
    public struct Address: Sendable, Hashable {
        /// The street part: street, house number, floor.
        public var addressLines: [String]?
        /// A part of the city.
        public var subLocality: String?
        /// The city.
        public var locality: String?
        /// A part of the state, such as a county.
        public var subAdministrativeArea: String?
        /// The state or province.
        public var administrativeArea: String?
        /// The postal code.
        public var postalCode: String?
        /// The country.
        public var countryCode: CountryCode?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts an address together; what is left out is nil.
        public init(
            addressLines: [String]? = nil,
            subLocality: String? = nil,
            locality: String? = nil,
            subAdministrativeArea: String? = nil,
            administrativeArea: String? = nil,
            postalCode: String? = nil,
            countryCode: CountryCode? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.addressLines = addressLines
            self.subLocality = subLocality
            self.locality = locality
            self.subAdministrativeArea = subAdministrativeArea
            self.administrativeArea = administrativeArea
            self.postalCode = postalCode
            self.countryCode = countryCode
            self.unknownFields = unknownFields
        }
    }
}

extension Order.Address: OrderObject {
    static var table: ObjectDescription { .address }

    init(reading fields: FieldReader) throws(FieldFault) {
        addressLines = try fields.optional("addressLines")
        subLocality = try fields.optional("subLocality")
        locality = try fields.optional("locality")
        subAdministrativeArea = try fields.optional("subAdministrativeArea")
        administrativeArea = try fields.optional("administrativeArea")
        postalCode = try fields.optional("postalCode")
        countryCode = try fields.optional("countryCode")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("addressLines", addressLines)
        fields.put("subLocality", subLocality)
        fields.put("locality", locality)
        fields.put("subAdministrativeArea", subAdministrativeArea)
        fields.put("administrativeArea", administrativeArea)
        fields.put("postalCode", postalCode)
        fields.put("countryCode", countryCode)
    }
}
