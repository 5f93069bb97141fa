// SPDX-License-Identifier: Apache-2.0

/// Reads values of DER (X.690) one after another, without copying and without ever reading past the end.
///
/// OpenSSL also takes BER, where one thing can be written in several ways; this tells whether a file is strict.
struct DERReader {
    /// One value: its tag byte and where it lies.
    struct Value {
        let tag: UInt8
        /// The contents.
        let contents: Range<Int>
        /// Tag, length and contents.
        let whole: Range<Int>
    }

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { position >= end }

    /// The next value, or nil at the end and where none can be read: tags of several bytes, lengths that are indefinite,
    /// not the shortest, or beyond the end.
    mutating func next() -> Value? {
        guard end - position >= 2, bytes[position] & 0x1f != 0x1f else { return nil }
        let start = position
        var length = Int(bytes[start + 1])
        var contents = start + 2
        if length >= 0x80 {
            let count = length & 0x7f
            guard (1...4).contains(count), end - contents >= count, bytes[contents] != 0 else { return nil }
            length = 0
            for index in contents..<contents + count { length = length << 8 | Int(bytes[index]) }
            guard length >= 0x80 else { return nil }
            contents += count
        }
        guard length <= end - contents else { return nil }
        position = contents + length
        return Value(tag: bytes[start], contents: contents..<position, whole: start..<position)
    }

    /// The next value when it has this tag; else nil, and nothing is passed over.
    mutating func next(_ tag: UInt8) -> Value? {
        guard position < end, bytes[position] == tag else { return nil }
        return next()
    }

    /// Whether these bytes stand in a range.
    func holds(_ value: [UInt8], at range: Range<Int>) -> Bool {
        guard range.count == value.count else { return false }
        for index in value.indices where bytes[range.lowerBound + index] != value[index] { return false }
        return true
    }

    /// Whether all bytes are values that can be read, down through everything that is constructed, and no string is
    /// written in pieces.
    ///
    /// A list of open ends instead of recursion, so that no depth exhausts the stack; linear.
    static func isStrict(_ bytes: [UInt8]) -> Bool {
        var open = [0..<bytes.count]
        while let range = open.popLast() {
            var reader = DERReader(bytes, range)
            while !reader.isAtEnd {
                guard let value = reader.next() else { return false }
                let isConstructed = value.tag & 0x20 != 0
                let isUniversal = value.tag & 0xc0 == 0
                // SEQUENCE (16) and SET (17) alone are constructed among the universal types.
                if isUniversal, isConstructed != (value.tag & 0x1e == 0x10) { return false }
                if isConstructed { open.append(value.contents) }
            }
        }
        return true
    }
}
