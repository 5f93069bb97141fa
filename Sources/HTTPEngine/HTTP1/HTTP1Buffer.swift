// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes received and not yet read, taken as lines or as runs.
///
/// How far it was searched for a line's end is kept, so a line that comes a byte at a time is not searched again and again.
struct HTTP1Buffer: Sendable {
    private var bytes: [UInt8] = []
    /// The first unread byte.
    private var start = 0
    /// No line feed stands before this.
    private var searched = 0

    /// What an idle connection keeps allocated.
    private static let keptCapacity = 2048

    /// How many bytes are unread.
    var count: Int { bytes.count - start }
    /// Whether all is read.
    var isEmpty: Bool { start == bytes.count }
    /// The first unread byte.
    var first: UInt8? { isEmpty ? nil : bytes[start] }

    /// The byte at a position that `line` gave.
    subscript(_ index: Int) -> UInt8 { bytes[index] }

    mutating func append(_ more: RawSpan) {
        makeRoom()
        unsafe more.withUnsafeBytes { more in unsafe bytes.append(contentsOf: more) }
    }

    mutating func append(_ more: some Collection<UInt8>) {
        makeRoom()
        bytes.append(contentsOf: more)
    }

    private mutating func makeRoom() {
        guard start > 0 else { return }
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        } else if start >= bytes.count / 2 {
            bytes.removeFirst(start)
        } else {
            return
        }
        searched -= start
        start = 0
        if searched < 0 { searched = 0 }
    }

    /// A search for a line.
    enum Line {
        /// Where the line's content stands, without CR LF; valid until the next `append`. It counts as read.
        case found(Range<Int>)
        /// The line's end has not come yet.
        case incomplete
        /// The line, its end included, has more bytes than allowed.
        case tooLong
    }

    /// Reads the next line.
    ///
    /// Whether a line is too long only depends on its bytes, not on how they arrive.
    mutating func line(limit: Int) throws(HTTP1Fault) -> Line {
        let bound = limit < count ? start + limit : bytes.count
        let from = max(searched, start)
        let index = from < bound ? lineFeed(from, bound) ?? bound : from
        searched = index
        guard index < bound else { return count >= limit ? .tooLong : .incomplete }
        guard index > start, bytes[index - 1] == HTTP1Bytes.carriageReturn else { throw .bareLineFeed }
        let content = start..<(index - 1)
        start = index + 1
        searched = start
        return .found(content)
    }

    /// Reads the next line of a header, and takes its length, its end included, from the bytes that the header may still
    /// have.
    ///
    /// - Returns: nil when the line's end has not come yet.
    /// - Throws: `headerTooLarge`.
    mutating func headerLine(_ budget: inout Int) throws(HTTP1Fault) -> Range<Int>? {
        switch try line(limit: budget) {
        case .incomplete: return nil
        case .tooLong: throw .headerTooLarge
        case .found(let line):
            budget -= line.count + 2
            return line
        }
    }

    private func lineFeed(_ from: Int, _ bound: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + from, Int32(HTTP1Bytes.lineFeed), bound - from)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Takes the next bytes, at most `limit`.
    mutating func take(_ limit: Int) -> [UInt8] {
        if start == 0, limit >= bytes.count {
            // All of it: hand the array over instead of copying.
            var all: [UInt8] = []
            swap(&all, &bytes)
            searched = 0
            return all
        }
        let end = limit < count ? start + limit : bytes.count
        let taken = Array(bytes[start..<end])
        start = end
        searched = end
        return taken
    }

    /// Skips one byte.
    mutating func skip() {
        start += 1
        searched = max(searched, start)
    }

    /// The text of a part of a line. Bytes that are not UTF-8 become U+FFFD.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The text of a part of a line whose bytes are known to be ASCII: nothing is left to check.
    func asciiText(_ range: Range<Int>) -> String {
        let span = bytes.span.extracting(range)
        return unsafe String(copying: UTF8Span(unchecked: span, isKnownASCII: true))
    }

    /// Where a byte stands first within a part of a line.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? { bytes[range].firstIndex(of: byte) }

    /// Whether a part of a line is these ASCII characters.
    func matches(_ text: StaticString, at index: Int, within range: Range<Int>) -> Bool {
        guard index >= range.lowerBound, index + text.utf8CodeUnitCount <= range.upperBound else { return false }
        return text.withUTF8Buffer { text in
            for offset in 0..<text.count where unsafe bytes[index + offset] != text[offset] { return false }
            return true
        }
    }

    // MARK: Field lines

    /// Reads a field line (RFC 9112 5): a token, at once a colon, a value without control characters.
    ///
    /// - Parameter mustBeText: refuses a value that is not UTF-8: replaced bytes would make one value of two.
    mutating func field(_ line: Range<Int>, mustBeText: Bool = true) throws(HTTP1Fault) -> (name: String, value: String)
    {
        var colon = line.lowerBound
        var hasCapitals = false
        var end = line.upperBound
        var begin = 0
        var union: UInt8 = 0
        do {
            let span = bytes.span
            while colon < end, HTTP1Bytes.isToken(span[colon]) {
                if span[colon] &- 0x41 < 26 { hasCapitals = true }
                colon += 1
            }
            guard colon < end else { throw HTTP1Fault("A header line has no colon.") }
            guard span[colon] == UInt8(ascii: ":") else {
                if HTTP1Bytes.isBlank(span[colon]) {
                    throw HTTP1Fault(
                        colon == line.lowerBound
                            ? "A header line begins with white space."
                            : "White space stands before the colon of a header line."
                    )
                }
                throw HTTP1Fault("A header name has a character that is not allowed.")
            }
            guard colon > line.lowerBound else { throw HTTP1Fault("A header line has no name.") }
            begin = colon + 1
            while begin < end, HTTP1Bytes.isBlank(span[begin]) { begin += 1 }
            while end > begin, HTTP1Bytes.isBlank(span[end - 1]) { end -= 1 }
            let value = span.extracting(begin..<end)
            // Nearly every value is plain; the others are looked at byte by byte.
            if unsafe !value.withUnsafeBufferPointer({ unsafe HTTP1Bytes.isPlain($0, isASCII: true) }) {
                for index in value.indices {
                    guard HTTP1Bytes.isFieldContent(value[index]) else {
                        throw HTTP1Fault("A header value has a control character.")
                    }
                    union |= value[index]
                }
            }
        }
        if union >= 0x80, mustBeText, String(validating: bytes[begin..<end], as: UTF8.self) == nil {
            throw .headerNotText
        }
        if hasCapitals {
            for index in line.lowerBound..<colon where bytes[index] &- 0x41 < 26 { bytes[index] |= 0x20 }
        }
        let value = union < 0x80 ? asciiText(begin..<end) : text(begin..<end)
        return (asciiText(line.lowerBound..<colon), value)
    }
}
