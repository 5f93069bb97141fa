// SPDX-License-Identifier: Apache-2.0

/// The few forms of DER (X.690) that certificates' extensions and signatures are written in here.
package enum DER {
    /// One value: tag, length, contents.
    package static func value(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(contents.count + 6)
        append(tag, count: contents.count, to: &bytes)
        bytes.append(contentsOf: contents)
        return bytes
    }

    /// Appends a value's tag and length; its contents follow.
    static func append(_ tag: UInt8, count: Int, to bytes: inout [UInt8]) {
        bytes.append(tag)
        guard count >= 0x80 else { return bytes.append(UInt8(count)) }
        let length = lengthCount(count) - 1
        bytes.append(0x80 | UInt8(length))
        for index in stride(from: length - 1, through: 0, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: count >> (8 * index)))
        }
    }

    /// How many bytes a value of `count` bytes of contents has.
    static func wholeCount(_ count: Int) -> Int { 1 + lengthCount(count) + count }

    /// How many bytes a length takes.
    private static func lengthCount(_ count: Int) -> Int {
        count < 0x80 ? 1 : 1 + (Int.bitWidth - count.leadingZeroBitCount + 7) / 8
    }

    /// NULL: how Apple's marker extensions say "yes".
    package static let null: [UInt8] = [0x05, 0x00]

    /// BOOLEAN TRUE.
    package static let yes: [UInt8] = [0x01, 0x01, 0xff]

    /// UTF8String.
    package static func utf8String(_ text: String) -> [UInt8] { value(0x0c, Array(text.utf8)) }

    /// OCTET STRING.
    package static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(0x04, bytes) }

    /// SEQUENCE of values that are already encoded.
    package static func sequence(_ values: [[UInt8]]) -> [UInt8] { value(0x30, join(values)) }

    /// Values one after another.
    package static func join(_ values: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(0) { $0 + $1.count })
        // Whole arrays at a time: a lazy join goes byte by byte.
        for value in values { bytes.append(contentsOf: value) }
        return bytes
    }

    /// INTEGER that isn't negative.
    package static func integer(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = number
        repeat {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest > 0
        if bytes[0] & 0x80 != 0 { bytes.insert(0, at: 0) }
        return value(0x02, bytes)
    }

    /// OBJECT IDENTIFIER in dotted form; nil when the text is none.
    package static func objectIdentifier(_ dotted: String) -> [UInt8]? {
        let parts = dotted.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        guard numbers.count == parts.count, numbers.count >= 2, numbers[0] <= 2, numbers[0] == 2 || numbers[1] < 40,
            numbers.allSatisfy({ $0 < 1 << 56 })
        else { return nil }
        var contents: [UInt8] = []
        for number in [numbers[0] * 40 + numbers[1]] + numbers[2...] {
            var groups = [UInt8(number & 0x7f)]
            var rest = number >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
                rest >>= 7
            }
            contents += groups
        }
        return value(0x06, contents)
    }

    /// The contents of `bytes` when they are exactly one value with this tag.
    package static func contents(of bytes: [UInt8], tag: UInt8) -> [UInt8]? {
        guard bytes.count >= 2, bytes[0] == tag else { return nil }
        var length = Int(bytes[1])
        var start = 2
        if length >= 0x80 {
            let count = length & 0x7f
            guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
            length = bytes[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
            // DER has one way to write a length: the shortest.
            guard length >= 0x80, bytes[2] != 0 else { return nil }
            start += count
        }
        guard bytes.count - start == length else { return nil }
        return Array(bytes[start...])
    }
}
