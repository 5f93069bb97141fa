// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// ASN.1 times as seconds since 1970, and back.
enum ASN1Time {
    /// nil for a time that can't be read.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time = unsafe time, let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var rest: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(rest)
    }

    /// The second of a UTCTime in DER's form, `YYMMDDHHMMSSZ`; nil for any other form, and for a moment that there isn't.
    static func seconds(utcTime text: ArraySlice<UInt8>) -> Int64? {
        guard text.count == 13, text.last == UInt8(ascii: "Z") else { return nil }
        var numbers: [Int64] = []
        var index = text.startIndex
        while index < text.endIndex - 1 {
            let tens = Int64(text[index]) - 0x30
            let ones = Int64(text[index + 1]) - 0x30
            guard (0...9).contains(tens), (0...9).contains(ones) else { return nil }
            numbers.append(tens * 10 + ones)
            index += 2
        }
        // RFC 5280 4.1.2.5.1: the years 1950 to 2049.
        let year = numbers[0] + (numbers[0] < 50 ? 2000 : 1900)
        let month = numbers[1]
        let lengths: [Int64] = [31, year % 4 == 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(numbers[2]), numbers[3] < 24,
            numbers[4] < 60, numbers[5] < 60
        else { return nil }
        let leapDays = (year - 1) / 4 - 1969 / 4
        let days = (year - 1970) * 365 + leapDays + lengths[..<(Int(month) - 1)].reduce(0, +) + numbers[2] - 1
        return days * 86_400 + numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
    }

    /// Whether a time is written as RFC 5652 11.3 has it: `YYMMDDHHMMSSZ`, or `YYYYMMDDHHMMSSZ` in a GeneralizedTime. OpenSSL
    /// reads further forms, such as `YYMMDDHHMM+hhmm`.
    static func isExact(_ text: [UInt8], isUTCTime: Bool) -> Bool {
        if isUTCTime { return seconds(utcTime: text[...]) != nil }
        return text.count == 15 && text[14] == UInt8(ascii: "Z") && text.dropLast().allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// A second as people read it in messages: `2026-01-02T03:04:05Z`.
    static func text(_ seconds: Int64) -> String {
        let buffer = MemoryBuffer()
        let done = unsafe buffer.withBIO { bio in
            unsafe withTime(seconds) { unsafe ASN1_TIME_print_ex(bio, $0, UInt(ASN1_DTFLGS_ISO8601)) }
        }
        guard done == 1 else { return "\(seconds)" }
        return String(buffer.text().map { $0 == " " ? "T" : $0 })
    }

    /// A second as the DER of a UTCTime, or of a GeneralizedTime from 2050 on.
    static func der(_ seconds: Int64) -> [UInt8] {
        unsafe withTime(seconds) { time in unsafe encodeDER { unsafe i2d_ASN1_TIME(time, $0) } } ?? []
    }

    /// A second as UTCTime, or as GeneralizedTime from 2050 on (RFC 5652 11.3), lent to one call.
    /// Seconds outside the years 1950 to 9999 are moved to that range's end.
    static func withTime<R>(_ seconds: Int64, _ body: (UnsafeMutablePointer<ASN1_TIME>) -> R) -> R {
        let bounded = min(max(seconds, -631_152_000), 253_402_300_799)
        guard let time = unsafe ASN1_TIME_set(nil, Int(bounded)) else { fatalError("out of memory") }
        defer { unsafe ASN1_TIME_free(time) }
        return unsafe body(time)
    }
}

/// Object identifiers as dotted text.
enum ObjectIdentifier {
    /// nil when there is no object.
    static func dotted(_ object: OpaquePointer?) -> String? {
        guard let object = unsafe object else { return nil }
        var buffer = [CChar](repeating: 0, count: 128)
        let length = unsafe OBJ_obj2txt(&buffer, Int32(buffer.count), object, 1)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer[..<Int(length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
