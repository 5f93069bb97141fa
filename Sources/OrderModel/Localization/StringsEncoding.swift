// SPDX-License-Identifier: Apache-2.0

/// Tells in which encoding a strings file is, and decodes it strictly.
enum StringsEncoding {
    static func decode(_ bytes: [UInt8]) throws(StringsError) -> [Unicode.Scalar] {
        if bytes.count > StringsTable.byteLimit {
            throw StringsError(.limit, line: 1, "The file is longer than \(StringsTable.byteLimit) bytes")
        }
        // What Xcode makes of a strings file when it builds an app.
        if bytes.starts(with: Array("bplist00".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            throw StringsError(
                .syntax,
                line: 1,
                "The file is a property list, as Xcode compiles it; put the strings file that it was made from here"
            )
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return try utf8(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), isBigEndian: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), isBigEndian: true) }
        // Without a mark: a file begins with ASCII, so the zero byte tells the order.
        if bytes.count >= 2, bytes[0] == 0, bytes[1] != 0 { return try utf16(bytes[...], isBigEndian: true) }
        if bytes.count >= 2, bytes[0] != 0, bytes[1] == 0 { return try utf16(bytes[...], isBigEndian: false) }
        return try utf8(bytes[...])
    }

    private static func utf8(_ bytes: ArraySlice<UInt8>) throws(StringsError) -> [Unicode.Scalar] {
        try decode(bytes, as: UTF8.self, "UTF-8")
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(StringsError) -> [Unicode.Scalar] {
        guard bytes.count % 2 == 0 else {
            throw StringsError(.encoding, line: 1, "The file is UTF-16 with an odd number of bytes")
        }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let first = UInt16(bytes[index])
            let second = UInt16(bytes[index + 1])
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        return try decode(units, as: UTF16.self, "UTF-16")
    }

    private static func decode<Codec: UnicodeCodec>(
        _ units: some Sequence<Codec.CodeUnit>,
        as: Codec.Type,
        _ name: String
    ) throws(StringsError) -> [Unicode.Scalar] {
        var codec = Codec()
        var iterator = units.makeIterator()
        var scalars: [Unicode.Scalar] = []
        var line = 1
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar):
                if scalar == "\n" { line += 1 }
                scalars.append(scalar)
            case .emptyInput: return scalars
            case .error:
                throw StringsError(.encoding, line: line, "The file is no valid \(name); save it as UTF-8 or UTF-16")
            }
        }
    }
}
