// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("HTTP/1.1 character classes")
struct HTTP1BytesTests {
    @Test("the look at eight bytes at a time finds the bytes that a look at each finds, wherever they stand")
    func plain() {
        for count in 0...17 {
            for position in 0..<max(1, count) {
                // What stands around it may hide a byte in the arithmetic.
                for (byte, others) in (UInt8.min...UInt8.max).flatMap({ byte in [0x20, 0x7E].map { (byte, $0) } }) {
                    var bytes = [UInt8](repeating: UInt8(others), count: count)
                    if count > 0 { bytes[position] = byte }
                    let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                    let isASCII = bytes.allSatisfy { $0 < 0x80 }
                    let found = unsafe bytes.withUnsafeBufferPointer { bytes in
                        unsafe [HTTP1Bytes.isPlain(bytes), HTTP1Bytes.isPlain(bytes, isASCII: true)]
                    }
                    if found != [isPlain, isPlain && isASCII] {
                        Issue.record("\(byte) at \(position) of \(count) among \(others): \(found)")
                    }
                }
            }
        }
    }

    @Test("the look at eight bytes of a name at a time takes lower-case letters and hyphens, wherever they stand")
    func names() {
        let isLower: (UInt8) -> Bool = { (0x61...0x7A).contains($0) || $0 == 0x2D }
        for count in 0...17 {
            for position in 0..<max(1, count) {
                // What stands before it may lend to it, or borrow of it.
                for (byte, others) in (UInt8.min...UInt8.max).flatMap({ byte in
                    [0x61, 0x7A, 0x2D, 0x2C, 0x00, 0xFF].map { (byte, $0) }
                }) {
                    var bytes = [UInt8](repeating: UInt8(others), count: count)
                    if count > 0 { bytes[position] = byte }
                    let expected = !bytes.isEmpty && bytes.allSatisfy(isLower)
                    let found = unsafe bytes.withUnsafeBufferPointer { unsafe HTTP1Bytes.isLowerToken($0) }
                    if found != expected { Issue.record("\(byte) at \(position) of \(count) among \(others)") }
                }
            }
        }
    }

    @Test("a field line's value may hold every byte but controls, wherever it stands")
    func values() {
        for byte in UInt8.min...UInt8.max {
            for count in [3, 8, 9, 17] {
                for position in 1..<(count - 1) {
                    var value = [UInt8](repeating: 0x61, count: count)
                    value[position] = byte
                    var buffer = HTTP1Buffer()
                    buffer.append(Array("Name: ".utf8) + value)
                    let field = try? buffer.field(0..<(6 + count), mustBeText: false)
                    let isGood = byte == 9 || byte >= 0x20 && byte != 0x7F
                    let text = String(decoding: value, as: UTF8.self)
                    if isGood ? field?.name != "name" || field?.value != text : field != nil {
                        Issue.record("\(byte) at \(position) of \(count)")
                    }
                }
            }
        }
    }
}
