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

    /// Where the blocks of these labels lie, from each one's BEGIN line up to the next one's, in order.
    static func blocks(in bytes: [UInt8], labels: Set<String>) -> [Range<Int>] {
        let marker = Array("-----BEGIN ".utf8)
        var starts: [(place: Int, isWanted: Bool)] = []
        var place = markLength(bytes)
        while place < bytes.count {
            let end = bytes[place...].firstIndex { $0 == 0x0a || $0 == 0x0d } ?? bytes.count
            if bytes[place..<end].starts(with: marker) {
                let label = bytes[(place + marker.count)..<end].prefix { $0 != UInt8(ascii: "-") }
                starts.append((place, labels.contains(String(decoding: label, as: UTF8.self))))
            }
            place = end + 1
        }
        return starts.indices.filter { starts[$0].isWanted }.map {
            starts[$0].place..<($0 + 1 < starts.count ? starts[$0 + 1].place : bytes.count)
        }
    }

    /// What keeps the first block from being read although it is there: environment variables, YAML and old editors do away with
    /// line ends. nil for a block whose BEGIN stands in a line of its own, and without any block.
    static func lineFault(in bytes: [UInt8]) -> String? {
        let marker = Array("-----BEGIN ".utf8)
        let blank: Set<UInt8> = [0x09, 0x0d, 0x20]
        for line in bytes.dropFirst(markLength(bytes)).split(separator: 0x0a) {
            let text = line.drop { blank.contains($0) }
            guard text.starts(with: marker) else { continue }
            let dashes = Array("-----".utf8)
            guard let end = text.dropFirst(dashes.count).firstRange(of: dashes)?.upperBound else { continue }
            let rest = text[end...].drop { blank.contains($0) }
            if rest.starts(with: Array(#"\n"#.utf8)) { return #"it has \n where its lines must end"# }
            if !rest.isEmpty { return "its lines don't end (in a line feed each)" }
            return text.startIndex > line.startIndex ? "its lines are indented" : nil
        }
        return nil
    }

    /// What bytes without the wanted block are, for a message.
    static func describe(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        if let fault = lineFault(in: bytes) { return fault }
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
