// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// A sum of money. Apple: WalletOrders, `CurrencyAmount`.
    public struct CurrencyAmount: Sendable, Hashable {
        /// How much. Wallet converts nothing.
        public var amount: Amount
        /// In which currency.
        public var currency: CurrencyCode
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a sum of money together.
        public init(
            amount: Amount,
            currency: CurrencyCode,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.amount = amount
            self.currency = currency
            self.unknownFields = unknownFields
        }

        /// A sum of money from texts: `CurrencyAmount("19.99", "USD")`.
        ///
        /// - Throws: ``InvalidOrderError`` with `bad-amount` or `unknown-currency`.
        public init(_ amount: String, _ currency: String) throws(InvalidOrderError) {
            self.init(amount: try Amount(amount), currency: try CurrencyCode(currency))
        }
    }
}

extension Order.CurrencyAmount: OrderObject {
    static var table: ObjectDescription { .currencyAmount }

    init(reading fields: FieldReader) throws(FieldFault) {
        amount = try fields.required("amount")
        currency = try fields.required("currency")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("amount", amount)
        fields.put("currency", currency)
    }
}
