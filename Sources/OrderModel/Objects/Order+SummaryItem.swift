// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order.Payment {
    /// A line under the items, such as shipping or tax. Apple: WalletOrders, `Payment.SummaryItems`.
    public struct SummaryItem: Sendable, Hashable {
        /// What it is for. Localizable.
        public var label: String
        /// How much; less than zero for a discount.
        public var value: Order.CurrencyAmount
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a line together.
        public init(
            label: String,
            value: Order.CurrencyAmount,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.label = label
            self.value = value
            self.unknownFields = unknownFields
        }
    }
}

extension Order.Payment.SummaryItem: OrderObject {
    static var table: ObjectDescription { .summaryItem }

    init(reading fields: FieldReader) throws(FieldFault) {
        label = try fields.required("label")
        value = try fields.required("value")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("label", label)
        fields.put("value", value)
    }
}
