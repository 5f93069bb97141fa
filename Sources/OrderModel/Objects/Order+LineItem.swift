// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// A thing that was bought. Apple: WalletOrders, `LineItem`.
    public struct LineItem: Sendable, Hashable {
        /// What it is called. Localizable.
        public var title: String
        /// A further line, such as size and colour. Localizable.
        public var subtitle: String?
        /// How many.
        public var quantity: Quantity
        /// The price of one.
        public var price: CurrencyAmount?
        /// The name of a picture in the package: PNG or JPEG.
        public var image: FileName?
        /// Its global trade item number: EAN, ISBN and the like.
        public var gtin: String?
        /// The merchant's own number for it.
        public var sku: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a line item together; what is left out is nil.
        public init(
            title: String,
            subtitle: String? = nil,
            quantity: Quantity,
            price: CurrencyAmount? = nil,
            image: FileName? = nil,
            gtin: String? = nil,
            sku: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.title = title
            self.subtitle = subtitle
            self.quantity = quantity
            self.price = price
            self.image = image
            self.gtin = gtin
            self.sku = sku
            self.unknownFields = unknownFields
        }
    }
}

extension Order.LineItem: OrderObject {
    static var table: ObjectDescription { .lineItem }

    init(reading fields: FieldReader) throws(FieldFault) {
        title = try fields.required("title")
        subtitle = try fields.optional("subtitle")
        quantity = try fields.required("quantity")
        price = try fields.optional("price")
        image = try fields.optional("image")
        gtin = try fields.optional("gtin")
        sku = try fields.optional("sku")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("title", title)
        fields.put("subtitle", subtitle)
        fields.put("quantity", quantity)
        fields.put("price", price)
        fields.put("image", image)
        fields.put("gtin", gtin)
        fields.put("sku", sku)
    }
}
