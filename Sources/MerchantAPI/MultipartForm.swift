// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON

/// A body of the type multipart/form-data (RFC 7578), taken apart. Pure and bounded.
internal enum MultipartForm {
    /// One part: a field or a file.
    struct Part: Sendable, Equatable {
        /// The field's name; for files it is the path in the package.
        let name: String
        /// The bytes as they came.
        let contents: [UInt8]
    }

    /// What is wrong with the body.
    struct Failure: Error, Equatable {
        let message: String
    }

    /// The most parts that are read.
    private static let partLimit = 200
    /// The most bytes of one part's header.
    private static let headerLimit = 4_096

    /// Takes a body apart.
    ///
    /// - Parameter contentType: the header's value with its boundary.
    static func parse(_ body: [UInt8], contentType: String) throws(Failure) -> [Part] {
        guard let boundary = self.parameter("boundary", of: contentType), (1...70).contains(boundary.utf8.count),
            boundary.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { throw Failure(message: "The Content-Type has no boundary of 1 to 70 characters.") }
        let dash = Array("--\(boundary)".utf8)
        let delimiter = [0x0d, 0x0a] + dash
        var parts: [Part] = []
        var position = dash.count
        if !body.starts(with: dash) {
            // What stands before the first boundary is for nobody (RFC 2046 5.1.1).
            guard let start = self.find(delimiter, in: body, from: 0) else {
                throw Failure(message: "The body has no boundary as the Content-Type names it.")
            }
            position = start + delimiter.count
        }
        while true {
            if body[position...].starts(with: [0x2d, 0x2d]) { return parts }
            // Blanks may follow a boundary (RFC 2046 5.1.1).
            while position < body.count, body[position] == 0x20 || body[position] == 0x09 { position += 1 }
            guard body[position...].starts(with: [0x0d, 0x0a]) else {
                throw Failure(message: "A boundary is not followed by a line end.")
            }
            position += 2
            guard parts.count < self.partLimit else {
                throw Failure(message: "There are more than \(self.partLimit) parts.")
            }
            let (name, start) = try self.header(body, from: position)
            guard let end = self.find(delimiter, in: body, from: start) else {
                throw Failure(message: "The part \(parts.count + 1) has no end: the closing boundary is missing.")
            }
            parts.append(Part(name: name, contents: Array(body[start..<end])))
            position = end + delimiter.count
        }
    }

    /// Reads a part's header lines; gives its name and where its contents begin.
    private static func header(_ body: [UInt8], from start: Int) throws(Failure) -> (String, Int) {
        var name: String?
        var position = start
        while true {
            let window = body[position..<min(body.count, start + self.headerLimit)]
            guard let end = self.lineEnd(in: window) else {
                throw Failure(message: "A part's header has no end within \(self.headerLimit) bytes.")
            }
            if end == position {
                guard let name, !name.isEmpty else {
                    throw Failure(message: "A part has no name: Content-Disposition: form-data; name=\"…\" is missing.")
                }
                return (name, end + 2)
            }
            let line = String(decoding: body[position..<end], as: UTF8.self)
            if line.beginsCaseless(with: "content-disposition:") { name = self.parameter("name", of: line) }
            position = end + 2
        }
    }

    private static func lineEnd(in bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            if bytes[index] == 0x0d, bytes[index + 1] == 0x0a { return index }
            index += 1
        }
        return nil
    }

    /// Where a pattern begins; skips ahead by its first byte, which is a carriage return and rare.
    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        let last = bytes.count - pattern.count
        while index <= last {
            guard let next = bytes[index...last].firstIndex(of: pattern[0]) else { return nil }
            if bytes[next..<(next + pattern.count)].elementsEqual(pattern) { return next }
            index = next + 1
        }
        return nil
    }

    /// The value of a parameter `name=value` or `name="value"` after a semicolon.
    private static func parameter(_ wanted: String, of header: String) -> String? {
        let (blank, tab, quote, escape) = (
            UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\""), UInt8(ascii: "\\")
        )
        var rest = header.utf8[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[semicolon...].dropFirst().drop { $0 == blank || $0 == tab }
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = Substring(rest[..<equals])
            rest = rest[equals...].dropFirst()
            var value: [UInt8] = []
            if rest.first == quote {
                rest = rest.dropFirst()
                while let byte = rest.popFirst(), byte != quote {
                    if byte == escape, let escaped = rest.first, escaped == quote || escaped == escape {
                        value.append(escaped)
                        rest = rest.dropFirst()
                    } else {
                        value.append(byte)
                    }
                }
            } else {
                value = Array(rest.prefix { $0 != UInt8(ascii: ";") && $0 != blank })
            }
            if name.isCaseless(wanted) { return String(decoding: value, as: UTF8.self) }
        }
        return nil
    }
}
