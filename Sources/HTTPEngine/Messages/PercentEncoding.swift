// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding (RFC 3986 2.1), decoded exactly once.
package enum PercentEncoding {
    /// The text behind percent-encoded bytes.
    /// - Parameter plusIsSpace: reads "+" as a space, as HTML forms write query values.
    /// - Returns: nil when a "%" does not begin two hex digits, the outcome is not UTF-8, or it holds a NUL.
    static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        guard
            text.contains(where: {
                $0 == UInt8(ascii: "%") || $0 >= 0x80 || $0 == 0 || (plusIsSpace && $0 == UInt8(ascii: "+"))
            })
        else { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(HTTP1Bytes.hexValue),
                    let low = rest.next().flatMap(HTTP1Bytes.hexValue)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Writes a text so that it can be a path segment or a query value: all but RFC 3986's unreserved characters as "%XX".
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
