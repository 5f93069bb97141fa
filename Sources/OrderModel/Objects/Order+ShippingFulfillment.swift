// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// Goods that are brought to the customer. Apple: WalletOrders, `ShippingFulfillment`.
    public struct ShippingFulfillment: Sendable, Hashable {
        /// The merchant's name for it, unique within the order and never shown. Wallet tells by it what changed: keep
        /// it.
        public var fulfillmentIdentifier: FulfillmentIdentifier
        /// Where it stands.
        public var status: Status
        /// More about where it stands. Localizable.
        public var statusDescription: String?
        /// The carrier's name. Without it Wallet says "Track Shipment".
        public var carrier: String?
        /// The carrier's number for it.
        public var trackingNumber: String?
        /// The carrier's page about it.
        public var trackingURL: URI?
        /// When it was handed to the carrier.
        public var shippedAt: DateTime?
        /// When it should arrive. Wallet passes over the time of day unless there is a window.
        public var estimatedDeliveryAt: DateTime?
        /// How long the delivery window is that begins at `estimatedDeliveryAt`.
        public var estimatedDeliveryWindowDuration: ISODuration?
        /// When it arrived.
        public var deliveredAt: DateTime?
        /// Who receives it.
        public var recipient: Recipient?
        /// What is in it, in the order to be shown.
        public var lineItems: [LineItem]?
        /// What the customer should know, such as a signature that is needed. Localizable.
        public var notes: String?
        /// Parcel or delivery; nil is a parcel. Since iOS 17.0.
        public var shippingType: ShippingType?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a parcel together; what is left out is nil.
        public init(
            fulfillmentIdentifier: FulfillmentIdentifier,
            status: Status,
            statusDescription: String? = nil,
            carrier: String? = nil,
            trackingNumber: String? = nil,
            trackingURL: URI? = nil,
            shippedAt: DateTime? = nil,
            estimatedDeliveryAt: DateTime? = nil,
            estimatedDeliveryWindowDuration: ISODuration? = nil,
            deliveredAt: DateTime? = nil,
            recipient: Recipient? = nil,
            lineItems: [LineItem]? = nil,
            notes: String? = nil,
            shippingType: ShippingType? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.fulfillmentIdentifier = fulfillmentIdentifier
            self.status = status
            self.statusDescription = statusDescription
            self.carrier = carrier
            self.trackingNumber = trackingNumber
            self.trackingURL = trackingURL
            self.shippedAt = shippedAt
            self.estimatedDeliveryAt = estimatedDeliveryAt
            self.estimatedDeliveryWindowDuration = estimatedDeliveryWindowDuration
            self.deliveredAt = deliveredAt
            self.recipient = recipient
            self.lineItems = lineItems
            self.notes = notes
            self.shippingType = shippingType
            self.unknownFields = unknownFields
        }

        /// Where a parcel stands.
        public enum Status: String, FieldChoice, CaseIterable {
            /// Ordered, nothing done yet.
            case open
            /// Being prepared.
            case processing
            /// The carrier moves it; only where carrier events are known.
            case onTheWay
            /// It arrives today; only where carrier events are known.
            case outForDelivery
            /// The customer has it; only where carrier events are known.
            case delivered
            /// Handed to the carrier, whose events are not known.
            case shipped
            /// Something went wrong; say what in `statusDescription`.
            case issue
            /// It will not come.
            case cancelled
        }

        /// How a parcel travels.
        public enum ShippingType: String, FieldChoice, CaseIterable {
            /// By a carrier.
            case shipping
            /// By the merchant, such as groceries or a meal.
            case delivery
        }
    }
}

extension Order.ShippingFulfillment: OrderObject {
    static var table: ObjectDescription { .shippingFulfillment }

    init(reading fields: FieldReader) throws(FieldFault) {
        fulfillmentIdentifier = try fields.required("fulfillmentIdentifier")
        status = try fields.required("status")
        statusDescription = try fields.optional("statusDescription")
        carrier = try fields.optional("carrier")
        trackingNumber = try fields.optional("trackingNumber")
        trackingURL = try fields.optional("trackingURL")
        shippedAt = try fields.optional("shippedAt")
        estimatedDeliveryAt = try fields.optional("estimatedDeliveryAt")
        estimatedDeliveryWindowDuration = try fields.optional("estimatedDeliveryWindowDuration")
        deliveredAt = try fields.optional("deliveredAt")
        recipient = try fields.optional("recipient")
        lineItems = try fields.optional("lineItems")
        notes = try fields.optional("notes")
        shippingType = try fields.optional("shippingType")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("fulfillmentType", FulfillmentType.shipping)
        fields.put("fulfillmentIdentifier", fulfillmentIdentifier)
        fields.put("status", status)
        fields.put("statusDescription", statusDescription)
        fields.put("carrier", carrier)
        fields.put("trackingNumber", trackingNumber)
        fields.put("trackingURL", trackingURL)
        fields.put("shippedAt", shippedAt)
        fields.put("estimatedDeliveryAt", estimatedDeliveryAt)
        fields.put("estimatedDeliveryWindowDuration", estimatedDeliveryWindowDuration)
        fields.put("deliveredAt", deliveredAt)
        fields.put("recipient", recipient)
        fields.put("lineItems", lineItems)
        fields.put("notes", notes)
        fields.put("shippingType", shippingType)
    }
}
