// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// What was paid, and how. Apple: WalletOrders, `Payment`.
    public struct Payment: Sendable, Hashable {
        /// What the customer pays in all.
        public var total: CurrencyAmount
        /// Lines between the items and the total, in this order: shipping, tax, discounts.
        public var summaryItems: [SummaryItem]?
        /// The movements of money. Since iOS 17.0.
        public var transactions: [PaymentTransaction]?
        /// Where the payment stands. Apple calls it deprecated, but devices refuse an order of `schemaVersion` 1 whose
        /// payment has none.
        public var status: Status?
        /// How it was paid, brand and last digits. Apple prefers `transactions`.
        public var paymentMethods: [String]?
        /// Further Apple Pay transactions that belong to this order. Apple prefers `transactions`.
        public var applePayTransactionIdentifiers: [String]?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a payment together; what is left out is nil.
        public init(
            total: CurrencyAmount,
            summaryItems: [SummaryItem]? = nil,
            transactions: [PaymentTransaction]? = nil,
            status: Status? = nil,
            paymentMethods: [String]? = nil,
            applePayTransactionIdentifiers: [String]? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.total = total
            self.summaryItems = summaryItems
            self.transactions = transactions
            self.status = status
            self.paymentMethods = paymentMethods
            self.applePayTransactionIdentifiers = applePayTransactionIdentifiers
            self.unknownFields = unknownFields
        }

        /// Where a payment stands.
        public typealias Status = PaymentStatus
    }
}

extension Order.Payment: OrderObject {
    static var table: ObjectDescription { .payment }

    init(reading fields: FieldReader) throws(FieldFault) {
        total = try fields.required("total")
        summaryItems = try fields.optional("summaryItems")
        transactions = try fields.optional("transactions")
        status = try fields.optional("status")
        paymentMethods = try fields.optional("paymentMethods")
        applePayTransactionIdentifiers = try fields.optional("applePayTransactionIdentifiers")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("total", total)
        fields.put("summaryItems", summaryItems)
        fields.put("transactions", transactions)
        fields.put("status", status)
        fields.put("paymentMethods", paymentMethods)
        fields.put("applePayTransactionIdentifiers", applePayTransactionIdentifiers)
    }
}
