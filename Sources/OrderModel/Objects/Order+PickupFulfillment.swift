// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// Goods that the customer collects. Apple: WalletOrders, `PickupFulfillment`.
    public struct PickupFulfillment: Sendable, Hashable {
        /// The merchant's name for it, unique within the order and never shown. Wallet tells by it what changed: keep
        /// it.
        public var fulfillmentIdentifier: FulfillmentIdentifier
        /// The name of the place. Localizable.
        public var displayName: String
        /// Where it stands.
        public var status: Status
        /// More about where it stands. Localizable.
        public var statusDescription: String?
        /// When the customer may come: the start of the window.
        public var pickupAt: DateTime?
        /// How long the window is that begins at `pickupAt`.
        public var pickupWindowDuration: ISODuration?
        /// When the customer came.
        public var pickedUpAt: DateTime?
        /// Where to come to.
        public var address: Address?
        /// Where exactly, when the address does not tell.
        public var location: Location?
        /// The code to show there.
        public var barcode: Barcode?
        /// What is collected, in the order to be shown.
        public var lineItems: [LineItem]?
        /// What the customer should know. Localizable.
        public var notes: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a pickup together; what is left out is nil.
        public init(
            fulfillmentIdentifier: FulfillmentIdentifier,
            displayName: String,
            status: Status,
            statusDescription: String? = nil,
            pickupAt: DateTime? = nil,
            pickupWindowDuration: ISODuration? = nil,
            pickedUpAt: DateTime? = nil,
            address: Address? = nil,
            location: Location? = nil,
            barcode: Barcode? = nil,
            lineItems: [LineItem]? = nil,
            notes: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.fulfillmentIdentifier = fulfillmentIdentifier
            self.displayName = displayName
            self.status = status
            self.statusDescription = statusDescription
            self.pickupAt = pickupAt
            self.pickupWindowDuration = pickupWindowDuration
            self.pickedUpAt = pickedUpAt
            self.address = address
            self.location = location
            self.barcode = barcode
            self.lineItems = lineItems
            self.notes = notes
            self.unknownFields = unknownFields
        }

        /// Where a pickup stands.
        public enum Status: String, FieldChoice, CaseIterable {
            /// Ordered, nothing done yet.
            case open
            /// Being prepared.
            case processing
            /// It waits at the counter.
            case readyForPickup
            /// The customer has it.
            case pickedUp
            /// Something went wrong; say what in `statusDescription`.
            case issue
            /// It will not be there.
            case cancelled
        }
    }
}

extension Order.PickupFulfillment: OrderObject {
    static var table: ObjectDescription { .pickupFulfillment }

    init(reading fields: FieldReader) throws(FieldFault) {
        fulfillmentIdentifier = try fields.required("fulfillmentIdentifier")
        displayName = try fields.required("displayName")
        status = try fields.required("status")
        statusDescription = try fields.optional("statusDescription")
        pickupAt = try fields.optional("pickupAt")
        pickupWindowDuration = try fields.optional("pickupWindowDuration")
        pickedUpAt = try fields.optional("pickedUpAt")
        address = try fields.optional("address")
        location = try fields.optional("location")
        barcode = try fields.optional("barcode")
        lineItems = try fields.optional("lineItems")
        notes = try fields.optional("notes")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("fulfillmentType", FulfillmentType.pickup)
        fields.put("fulfillmentIdentifier", fulfillmentIdentifier)
        fields.put("displayName", displayName)
        fields.put("status", status)
        fields.put("statusDescription", statusDescription)
        fields.put("pickupAt", pickupAt)
        fields.put("pickupWindowDuration", pickupWindowDuration)
        fields.put("pickedUpAt", pickedUpAt)
        fields.put("address", address)
        fields.put("location", location)
        fields.put("barcode", barcode)
        fields.put("lineItems", lineItems)
        fields.put("notes", notes)
    }
}
