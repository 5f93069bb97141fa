// SPDX-License-Identifier: Apache-2.0

/// Looks at bytes that should be PEM text (RFC 7468), to say what they are instead.
enum PEMText {
    /// The length of the byte order mark that some editors put in front of a text; OpenSSL finds no block behind one.
    static func markLength(_ bytes: [UInt8]) -> Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// What stands between `-----BEGIN ` and `-----`, in order.
    static func labels(in bytes: [UInt8]) -> [String] {
        let marker = Array("-----BEGIN ".utf8)
        var labels: [String] = []
        let text = bytes.dropFirst(markLength(bytes))
        for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) where line.starts(with: marker) {
            let rest = line.dropFirst(marker.count)
            guard let end = rest.firstIndex(of: UInt8(ascii: "-")) else { continue }
            labels.append(String(decoding: rest[..<end], as: UTF8.self))
        }
        return labels
    }

    /// What bytes without the wanted block are, for a message.
    static func describe(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        let labels = labels(in: bytes)
        if !labels.isEmpty { return "it holds " + labels.joined(separator: ", ") }
        if bytes[0] == 0x30 { return "it is DER, or a PKCS#12 file" }
        let line = bytes.last == 0x0a ? bytes.dropLast() : bytes[...]
        let isOneLine = !line.contains { $0 == 0x0a || $0 == 0x0d || $0 == UInt8(ascii: "{") }
        if bytes.count < 512, isOneLine, bytes.contains(UInt8(ascii: "/")) {
            return "it looks like a path, not like a file's contents"
        }
        return "it is no PEM text"
    }
}
