// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PostgreSQL

/// One value, the type of its parameter, and the bytes that the server expects; nil when it must be refused.
struct EncodingCase: Sendable, CustomTestStringConvertible {
    let value: PostgresValue
    let type: TypeIdentifier
    let bytes: [UInt8]?
    var format: Int32 = 1

    var testDescription: String { "\(self.value.kind) as \(self.type.description)" }
}

struct BinaryValueTests {
    static let cases: [EncodingCase] = [
        .init(value: .bool(true), type: .bool, bytes: [1]),
        .init(value: .bool(true), type: .int4, bytes: nil),
        .init(value: .int(-2), type: .int8, bytes: [255, 255, 255, 255, 255, 255, 255, 254]),
        .init(value: .int(258), type: .int4, bytes: [0, 0, 1, 2]),
        .init(value: .int(-1), type: .int2, bytes: [255, 255]),
        .init(value: .int(32_768), type: .int2, bytes: nil),
        .init(value: .int(2_147_483_648), type: .int4, bytes: nil),
        .init(value: .int4(7), type: .int8, bytes: [0, 0, 0, 0, 0, 0, 0, 7]),
        .init(value: .int(3), type: .float8, bytes: [0x40, 0x08, 0, 0, 0, 0, 0, 0]),
        .init(value: .int(12), type: .init(rawValue: 1700), bytes: [0x31, 0x32], format: 0),
        .init(value: .int(12), type: .text, bytes: nil),
        .init(value: .double(1.5), type: .float8, bytes: [0x3f, 0xf8, 0, 0, 0, 0, 0, 0]),
        .init(value: .double(1.5), type: .float4, bytes: [0x3f, 0xc0, 0, 0]),
        .init(value: .text("é"), type: .text, bytes: [0xc3, 0xa9]),
        .init(value: .text("{}"), type: .jsonb, bytes: [1, 0x7b, 0x7d]),
        .init(value: .text("x"), type: .bytea, bytes: nil),
        .init(value: .text("open"), type: .init(rawValue: 99_999), bytes: Array("open".utf8), format: 0),
        .init(value: .text("a\0b"), type: .init(rawValue: 99_999), bytes: nil),
        .init(value: .bytes([0, 1]), type: .bytea, bytes: [0, 1]),
        .init(value: .bytes([0, 1]), type: .text, bytes: nil),
        .init(value: .timestamp(.seconds(946_684_801)), type: .timestamptz, bytes: [0, 0, 0, 0, 0, 0x0f, 0x42, 0x40]),
        .init(value: .timestamp(.infinity), type: .timestamptz, bytes: [127] + Array(repeating: 255, count: 7)),
        .init(
            value: .uuid("00112233-4455-6677-8899-AABBCCDDEEFF"),
            type: .uuid,
            bytes: [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]
        ),
        .init(value: .uuid("00112233-4455-6677-8899-AABBCCDDEEF"), type: .uuid, bytes: nil),
        .init(value: .uuid("00112233x4455-6677-8899-AABBCCDDEEFF"), type: .uuid, bytes: nil),
        .init(value: .uuid("00112233-4455-6677-8899-AABBCCDDEEFG"), type: .uuid, bytes: nil),
        .init(
            value: .interval(microseconds: 1),
            type: .interval,
            bytes: Array(repeating: 0, count: 7) + [1] + .zeros(8)
        ),
        .init(value: .ints([]), type: .int8Array, bytes: .zeros(8) + [0, 0, 0, 20]),
        .init(
            value: .ints([1, nil]),
            type: .int4Array,
            bytes: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 23, 0, 0, 0, 2, 0, 0, 0, 1]
                + [0, 0, 0, 4, 0, 0, 0, 1, 255, 255, 255, 255]
        ),
        .init(
            value: .texts(["ab"]),
            type: .textArray,
            bytes: [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0x61, 0x62]
        ),
        .init(value: .texts(["ab"]), type: .text, bytes: nil),
        .init(value: .ints([1]), type: .textArray, bytes: nil),
    ]

    @Test("A value is written in the binary form of its parameter's type, or refused", arguments: cases)
    func encoding(_ test: EncodingCase) throws {
        guard let expected = test.bytes else {
            #expect(throws: PostgresError(.encoding, "")) { try EncodedParameters([test.value], types: [test.type]) }
            return
        }
        let encoded = try EncodedParameters([test.value], types: [test.type])
        #expect(encoded.slots == [.inline(offset: 0, count: expected.count)])
        #expect(Array(encoded.buffer.prefix(expected.count)) == expected)
        #expect(encoded.formats == [test.format])
        if test.format == 0 { #expect(encoded.buffer.last == 0) }
    }

    @Test("NULL has no bytes, and a large byte string keeps its own storage")
    func slots() throws {
        let large = [UInt8](repeating: 7, count: EncodedParameters.separateFrom)
        let encoded = try EncodedParameters(
            [.null, .bytes(large), .int(1), .bytes([])],
            types: [.int8, .bytea, .int8, .bytea]
        )
        #expect(encoded.slots == [.null, .separate(large), .inline(offset: 0, count: 8), .inline(offset: 8, count: 0)])
        let lengths = unsafe encoded.withPointers { values, lengths, _ in
            (0..<4).map { index in unsafe values?[index] == nil ? -1 : Int(lengths?[index] ?? -2) }
        }
        #expect(lengths == [-1, large.count, 8, 0])
    }

    @Test("As many values as parameters, or nothing is sent")
    func counts() {
        #expect(throws: PostgresError(.encoding, "")) { try EncodedParameters([.int(1)], types: []) }
        #expect(throws: PostgresError(.encoding, "")) { try EncodedParameters([], types: [.int8]) }
    }

    @Test("An error about a value does not show the value")
    func discretion() {
        let error = #expect(throws: PostgresError.self) { try EncodedParameters([.text("Ada")], types: [.bytea]) }
        #expect(error?.description.contains("Ada") == false)
        #expect(error?.message.contains("$1 is bytea") == true)
    }

    @Test("Whole seconds are rounded down, also before 1970", arguments: [(1_500_000, 1), (-1, -1), (-1_000_000, -1)])
    func seconds(_ microseconds: Int64, _ seconds: Int64) {
        #expect(Timestamp(microseconds: microseconds).seconds == seconds)
    }

    @Test("A moment survives the wire, the extremes as infinities")
    func moments() {
        for moment in [Timestamp.seconds(0), .seconds(-1), .seconds(2_000_000_000), .infinity, .negativeInfinity] {
            #expect(Timestamp(wireValue: moment.wireValue) == moment)
        }
    }
}

extension [UInt8] {
    static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}
