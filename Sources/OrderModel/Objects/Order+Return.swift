// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// Goods on their way back. Since iOS 17.2. Apple: WalletOrders, `Return`.
    public struct Return: Sendable, Hashable {
        /// The merchant's name for it, unique within the order and never shown. Wallet tells by it what changed: keep
        /// it.
        public var returnIdentifier: ReturnIdentifier
        /// Where it stands.
        public var status: Status
        /// More about where it stands. Localizable.
        public var statusDescription: String?
        /// The number to show the customer.
        public var returnNumber: String?
        /// Where the customer manages it.
        public var returnManagementURL: URI?
        /// The carrier's name.
        public var carrier: String?
        /// Until when the customer has to hand it over.
        public var dropOffBy: DateTime?
        /// When the customer announced it.
        public var initiatedAt: DateTime?
        /// When it came back.
        public var returnedAt: DateTime?
        /// What goes back, in the order to be shown.
        public var lineItems: [LineItem]?
        /// What the customer should know.
        public var notes: String?
        /// The name of a label to print in the package: PDF, JPEG or PNG.
        public var returnLabel: FileName?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a return together; what is left out is nil.
        public init(
            returnIdentifier: ReturnIdentifier,
            status: Status,
            statusDescription: String? = nil,
            returnNumber: String? = nil,
            returnManagementURL: URI? = nil,
            carrier: String? = nil,
            dropOffBy: DateTime? = nil,
            initiatedAt: DateTime? = nil,
            returnedAt: DateTime? = nil,
            lineItems: [LineItem]? = nil,
            notes: String? = nil,
            returnLabel: FileName? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.returnIdentifier = returnIdentifier
            self.status = status
            self.statusDescription = statusDescription
            self.returnNumber = returnNumber
            self.returnManagementURL = returnManagementURL
            self.carrier = carrier
            self.dropOffBy = dropOffBy
            self.initiatedAt = initiatedAt
            self.returnedAt = returnedAt
            self.lineItems = lineItems
            self.notes = notes
            self.returnLabel = returnLabel
            self.unknownFields = unknownFields
        }

        /// Where a return stands.
        public typealias Status = ReturnStatus
    }
}

extension Order.Return: OrderObject {
    static var table: ObjectDescription { .return }

    init(reading fields: FieldReader) throws(FieldFault) {
        returnIdentifier = try fields.required("returnIdentifier")
        status = try fields.required("status")
        statusDescription = try fields.optional("statusDescription")
        returnNumber = try fields.optional("returnNumber")
        returnManagementURL = try fields.optional("returnManagementURL")
        carrier = try fields.optional("carrier")
        dropOffBy = try fields.optional("dropOffBy")
        initiatedAt = try fields.optional("initiatedAt")
        returnedAt = try fields.optional("returnedAt")
        lineItems = try fields.optional("lineItems")
        notes = try fields.optional("notes")
        returnLabel = try fields.optional("returnLabel")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("returnIdentifier", returnIdentifier)
        fields.put("status", status)
        fields.put("statusDescription", statusDescription)
        fields.put("returnNumber", returnNumber)
        fields.put("returnManagementURL", returnManagementURL)
        fields.put("carrier", carrier)
        fields.put("dropOffBy", dropOffBy)
        fields.put("initiatedAt", initiatedAt)
        fields.put("returnedAt", returnedAt)
        fields.put("lineItems", lineItems)
        fields.put("notes", notes)
        fields.put("returnLabel", returnLabel)
    }
}
