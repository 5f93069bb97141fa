// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// A code to scan. Apple: WalletOrders, `Barcode`.
    public struct Barcode: Sendable, Hashable {
        /// The kind of code.
        public var format: Format
        /// What the code says.
        public var message: String
        /// The IANA name of the character set that `message` is encoded in; `iso-8859-1` unless scanners differ.
        public var messageEncoding: String
        /// A text beside the code, for people. Localizable.
        public var altText: String?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a code together; what is left out is nil.
        public init(
            format: Format,
            message: String,
            messageEncoding: String,
            altText: String? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.format = format
            self.message = message
            self.messageEncoding = messageEncoding
            self.altText = altText
            self.unknownFields = unknownFields
        }

        /// The kinds of code that Wallet draws. They have no prefix, unlike those of passes.
        public enum Format: String, FieldChoice, CaseIterable {
            /// QR code.
            case qr
            /// PDF417, a stack of lines.
            case pdf417
            /// Aztec code.
            case aztec
            /// Code 128, a single line.
            case code128
        }
    }
}

extension Order.Barcode: OrderObject {
    static var table: ObjectDescription { .barcode }

    init(reading fields: FieldReader) throws(FieldFault) {
        format = try fields.required("format")
        message = try fields.required("message")
        messageEncoding = try fields.required("messageEncoding")
        altText = try fields.optional("altText")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("format", format)
        fields.put("message", message)
        fields.put("messageEncoding", messageEncoding)
        fields.put("altText", altText)
    }
}
