// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// One movement of money. Since iOS 17.0. Apple: WalletOrders, `PaymentTransaction`.
    public struct PaymentTransaction: Sendable, Hashable {
        /// How much was moved.
        public var amount: CurrencyAmount
        /// When.
        public var createdAt: DateTime
        /// How.
        public var paymentMethod: PaymentMethod
        /// How far it got.
        public var status: Status
        /// Which way the money goes.
        public var transactionType: TransactionType
        /// The transaction's identifier in the Apple Pay payment token, when it was one.
        public var applePayTransactionIdentifier: String?
        /// The name of the receipt in the package: PDF, JPEG or PNG.
        public var receipt: FileName?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a transaction together; what is left out is nil.
        public init(
            amount: CurrencyAmount,
            createdAt: DateTime,
            paymentMethod: PaymentMethod,
            status: Status,
            transactionType: TransactionType,
            applePayTransactionIdentifier: String? = nil,
            receipt: FileName? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.amount = amount
            self.createdAt = createdAt
            self.paymentMethod = paymentMethod
            self.status = status
            self.transactionType = transactionType
            self.applePayTransactionIdentifier = applePayTransactionIdentifier
            self.receipt = receipt
            self.unknownFields = unknownFields
        }

        /// How far a transaction got.
        public enum Status: String, FieldChoice, CaseIterable {
            /// Not decided yet.
            case pending
            /// The customer's bank agreed.
            case approved
            /// The money was moved.
            case completed
            /// It was called off.
            case cancelled
            /// It did not work.
            case failed
        }

        /// Which way the money goes.
        public enum TransactionType: String, FieldChoice, CaseIterable {
            /// From customer to merchant.
            case purchase
            /// From merchant to customer.
            case refund
        }
    }
}

extension Order.PaymentTransaction: OrderObject {
    static var table: ObjectDescription { .paymentTransaction }

    init(reading fields: FieldReader) throws(FieldFault) {
        amount = try fields.required("amount")
        createdAt = try fields.required("createdAt")
        paymentMethod = try fields.required("paymentMethod")
        status = try fields.required("status")
        transactionType = try fields.required("transactionType")
        applePayTransactionIdentifier = try fields.optional("applePayTransactionIdentifier")
        receipt = try fields.optional("receipt")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("amount", amount)
        fields.put("createdAt", createdAt)
        fields.put("paymentMethod", paymentMethod)
        fields.put("status", status)
        fields.put("transactionType", transactionType)
        fields.put("applePayTransactionIdentifier", applePayTransactionIdentifier)
        fields.put("receipt", receipt)
    }
}
