// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// An app that belongs to the order. Apple: WalletOrders, `Application`.
    public struct Application: Sendable, Hashable {
        /// The app's number in the App Store (ADAM ID), above zero.
        public var storeIdentifier: Int64
        /// The URL that the app is launched with.
        public var launchURL: String?
        /// The custom product page to show in the App Store. Since iOS 17.0.
        public var customProductPageIdentifier: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts an app together; what is left out is nil.
        public init(
            storeIdentifier: Int64,
            launchURL: String? = nil,
            customProductPageIdentifier: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.storeIdentifier = storeIdentifier
            self.launchURL = launchURL
            self.customProductPageIdentifier = customProductPageIdentifier
            self.unknownFields = unknownFields
        }
    }
}

extension Order.Application: OrderObject {
    static var table: ObjectDescription { .application }

    init(reading fields: FieldReader) throws(FieldFault) {
        storeIdentifier = try fields.required("storeIdentifier")
        launchURL = try fields.optional("launchURL")
        customProductPageIdentifier = try fields.optional("customProductPageIdentifier")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("storeIdentifier", storeIdentifier)
        fields.put("launchURL", launchURL)
        fields.put("customProductPageIdentifier", customProductPageIdentifier)
    }
}
