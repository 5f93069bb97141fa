// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// How one movement of money was paid. Since iOS 17.0. Apple: WalletOrders, `PaymentMethod`.
    public struct PaymentMethod: Sendable, Hashable {
        /// What the customer calls it, such as brand and last digits.
        public var displayName: String
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a payment method together.
        public init(
            displayName: String,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.displayName = displayName
            self.unknownFields = unknownFields
        }
    }
}

extension Order.PaymentMethod: OrderObject {
    static var table: ObjectDescription { .paymentMethod }

    init(reading fields: FieldReader) throws(FieldFault) {
        displayName = try fields.required("displayName")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("displayName", displayName)
    }
}
