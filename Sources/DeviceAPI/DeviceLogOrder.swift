// SPDX-License-Identifier: Apache-2.0
internal import OrderModel
internal import OrderStore

/// Finds out which order a device's log line speaks of.
///
/// Apple documents no form. Those seen in the field name the type after "for" or "type" and the identifier after "serial
/// number", bare or in quotation marks: `… error for TYPE (URL): … for serial number '0001'.` and
/// `Register task (for device …, pass type TYPE, serial number 0001; with web service url URL) …`.
internal enum DeviceLogOrder {
    /// What stands before an identifier, in lower case, the longest first.
    private static let marks = [
        "order identifier", "orderidentifier", "serial number", "serialnumber", "order id", "identifier",
    ].map { Array($0.utf8) }

    /// The order that a line names; nil when it names none. Whether there is one is for the store to say.
    static func key(in line: [UInt8]) -> OrderKey? {
        guard let type = self.type(in: line), let order = self.order(in: line) else { return nil }
        return OrderKey(type, order)
    }

    /// The first word that has the form of an order type, rather one that begins as they all do.
    private static func type(in line: [UInt8]) -> OrderTypeIdentifier? {
        let words = line.split { !self.isTypeByte($0) }.lazy.map { word in
            // The end of a sentence is no part of the last label.
            String(decoding: word.last == UInt8(ascii: ".") ? word.dropLast() : word, as: UTF8.self)
        }
        let types = words.compactMap { try? OrderTypeIdentifier($0) }
        return types.first { $0.followsConvention } ?? types.first { !self.isNumber($0.text) }
    }

    /// An address stays one word, which is no order type.
    private static func isTypeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// A version is no order type.
    private static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x3a } }

    private static func order(in line: [UInt8]) -> OrderIdentifier? {
        let lower = line.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        for start in lower.indices {
            guard let mark = self.marks.first(where: { lower[start...].starts(with: $0) }) else { continue }
            if let order = self.identifier(in: line[(start + mark.count)...]) { return order }
        }
        return nil
    }

    /// What follows a mark: up to the closing quotation mark, or to what ends a word.
    private static func identifier(in rest: ArraySlice<UInt8>) -> OrderIdentifier? {
        let text = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }
        guard let first = text.first, text.startIndex > rest.startIndex else { return nil }
        let bytes: ArraySlice<UInt8>
        if first == UInt8(ascii: "'") || first == UInt8(ascii: "\"") {
            let quoted = text.dropFirst()
            guard let end = quoted.firstIndex(of: first) else { return nil }
            bytes = quoted[..<end]
        } else {
            let word = text.prefix {
                ![UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ")")].contains($0)
            }
            bytes = word.last == UInt8(ascii: ".") ? word.dropLast() : word
        }
        guard let name = String(validating: bytes, as: UTF8.self) else { return nil }
        return try? OrderIdentifier(name)
    }
}
