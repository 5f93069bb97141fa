// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    mutating func checkBarcodes() {
        if let object = order["barcode"]?.objectValue { checkBarcode(object, ["barcode"]) }
        for (place, object) in objects("fulfillments") {
            if let object = object["barcode"]?.objectValue { checkBarcode(object, place + ["barcode"]) }
        }
    }

    private mutating func checkBarcode(_ object: JSONObject, _ place: [String]) {
        let encoding = object["messageEncoding"]?.stringValue
        if let encoding, !CharacterSetName.isKnown(encoding) {
            add(
                .warning,
                "unknown-encoding",
                place + ["messageEncoding"],
                "\"\(DocumentWalk.shown(encoding))\" is no character set of IANA's list.",
                fix: (CharacterSetName.suggestion(for: encoding).map { "Did you mean \"\($0)\"? " } ?? "")
                    + "Use \"iso-8859-1\", or \"utf-8\" for other characters."
            )
        }
        guard let message = object["message"]?.stringValue else { return }
        if message.isEmpty {
            return add(
                .warning,
                "barcode-length",
                place + ["message"],
                "The barcode's message is empty, so there is nothing to scan.",
                fix: "Send what the scanner is to read, or leave the barcode out."
            )
        }
        if let encoding, let scalar = CharacterSetName.firstUnencodable(message, in: encoding) {
            add(
                .warning,
                "barcode-characters",
                place + ["message"],
                "\"\(DocumentWalk.shown(String(scalar)))\" can't be written in \(encoding).",
                fix: "Set messageEncoding to \"utf-8\", or send a message without such characters."
            )
        }
        guard let format = object["format"]?.stringValue,
            let limits = Self.barcodeLimits.first(where: { format.isExactly($0.key) })?.value
        else { return }
        if format == "code128", let scalar = message.unicodeScalars.first(where: { !$0.isASCII }) {
            add(
                .warning,
                "barcode-characters",
                place + ["message"],
                "Code 128 holds ASCII characters only, not \"\(DocumentWalk.shown(String(scalar)))\".",
                fix: "Use \"qr\", or send a message in ASCII."
            )
        }
        let isNumber = message.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let limit = isNumber ? limits.digits : limits.bytes
        // Without a known encoding the fewest bytes that it can be: a warning must not be wrong.
        let count = encoding.flatMap { CharacterSetName.byteCount(message, in: $0) } ?? message.unicodeScalars.count
        if count > limit {
            add(
                .warning,
                "barcode-length",
                place + ["message"],
                "The message has \(count) \(isNumber ? "digits" : "bytes"); \(format) holds no more than \(limit).",
                fix: format == "code128" ? "Shorten it, or use \"qr\"." : "Shorten it, for instance to a number or URL."
            )
        }
    }

    /// What the largest symbol holds, of bytes and, packed more densely, of digits alone: ISO/IEC 18004 (40-L), 15438 and 24778.
    /// Code 128 has no such limit; a line of 80 characters on a phone is our judgement of what a scanner still resolves.
    private static let barcodeLimits: KeyValuePairs<String, (bytes: Int, digits: Int)> = [
        "qr": (2953, 7089), "pdf417": (1108, 2710), "aztec": (1914, 3832), "code128": (80, 80),
    ]
}
