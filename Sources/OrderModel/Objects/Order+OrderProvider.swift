// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// The platform that supplies the data for a merchant. Since iOS 17.4. Apple: WalletOrders, `OrderProvider`.
    public struct OrderProvider: Sendable, Hashable {
        /// The platform's name. Localizable.
        public var displayName: String
        /// The platform's website.
        public var url: URI
        /// The name of the logo beside the tracking link on light ground: PNG or JPEG. Wallet shows it when the
        /// shipping fulfillment has a `trackingURL`.
        public var trackingLogoNameLightColorScheme: FileName
        /// The same for dark ground.
        public var trackingLogoNameDarkColorScheme: FileName
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a provider together.
        public init(
            displayName: String,
            url: URI,
            trackingLogoNameLightColorScheme: FileName,
            trackingLogoNameDarkColorScheme: FileName,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.displayName = displayName
            self.url = url
            self.trackingLogoNameLightColorScheme = trackingLogoNameLightColorScheme
            self.trackingLogoNameDarkColorScheme = trackingLogoNameDarkColorScheme
            self.unknownFields = unknownFields
        }
    }
}

extension Order.OrderProvider: OrderObject {
    static var table: ObjectDescription { .orderProvider }

    init(reading fields: FieldReader) throws(FieldFault) {
        displayName = try fields.required("displayName")
        url = try fields.required("url")
        trackingLogoNameLightColorScheme = try fields.required("trackingLogoNameLightColorScheme")
        trackingLogoNameDarkColorScheme = try fields.required("trackingLogoNameDarkColorScheme")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("displayName", displayName)
        fields.put("url", url)
        fields.put("trackingLogoNameLightColorScheme", trackingLogoNameLightColorScheme)
        fields.put("trackingLogoNameDarkColorScheme", trackingLogoNameDarkColorScheme)
    }
}
