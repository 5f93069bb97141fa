// SPDX-License-Identifier: Apache-2.0

/// Writes values as JSON text in UTF-8.
///
/// Only what RFC 8259 section 7 requires is escaped: the quote, the backslash and control characters.
package struct JSONWriter {
    let style: JSONStyle
    /// What was written so far.
    package private(set) var output: [UInt8] = []
    private var depth = 0

    /// A writer with room for `capacity` bytes before it has to grow.
    package init(style: JSONStyle, capacity: Int = 512) {
        self.style = style
        output.reserveCapacity(capacity)
    }

    /// Appends a byte of punctuation, for callers that put an object together themselves.
    package mutating func write(byte: UInt8) { output.append(byte) }

    /// Appends a part of a text that is JSON already.
    package mutating func write(json: [UInt8], _ range: Range<Int>) {
        output.append(contentsOf: json[range])
    }

    /// Appends a part of a text that is JSON already, such as a member's name, and a text as a JSON string behind it.
    package mutating func write(json: [UInt8], _ range: Range<Int>, _ text: String) {
        let bytes = text.utf8.span
        guard Self.isPlain(bytes) else {
            output.append(contentsOf: json[range])
            output.append(UInt8(ascii: "\""))
            for index in bytes.indices { writeEscaped(bytes[index]) }
            output.append(UInt8(ascii: "\""))
            return
        }
        let front = json.span.extracting(range)
        // In one go: to make sure that there is room costs more than the bytes of most texts.
        output.append(addingCapacity: front.count + bytes.count + 2) { span in
            for index in front.indices { span.append(front[index]) }
            span.append(UInt8(ascii: "\""))
            for index in bytes.indices { span.append(bytes[index]) }
            span.append(UInt8(ascii: "\""))
        }
    }

    /// Appends a value.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: output.append(contentsOf: [0x6E, 0x75, 0x6C, 0x6C])
        case .bool(true): output.append(contentsOf: [0x74, 0x72, 0x75, 0x65])
        case .bool(false): output.append(contentsOf: [0x66, 0x61, 0x6C, 0x73, 0x65])
        case .number(let number): output.append(contentsOf: number.text.utf8)
        case .string(let text): write(text)
        case .array(let elements): write(elements)
        case .object(let object): write(object)
        }
    }

    private mutating func write(_ elements: [JSONValue]) {
        output.append(UInt8(ascii: "["))
        depth += 1
        for index in elements.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine()
            write(elements[index])
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ object: JSONObject) {
        output.append(UInt8(ascii: "{"))
        depth += 1
        if style == .canonical {
            let sorted = object.members.sorted { ExactText.precedes($0.name, $1.name) }
            for index in sorted.indices { write(sorted[index], isFirst: index == 0) }
        } else {
            for index in object.members.indices { write(object.members[index], isFirst: index == 0) }
        }
        depth -= 1
        if !object.isEmpty { breakLine() }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ member: JSONObject.Element, isFirst: Bool) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        breakLine()
        write(member.name)
        output.append(UInt8(ascii: ":"))
        if style == .pretty { output.append(0x20) }
        write(member.value)
    }

    private mutating func breakLine() {
        guard style == .pretty else { return }
        output.append(0x0A)
        output.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }

    /// Appends a text as a JSON string.
    package mutating func write(_ text: String) { write(json: [], 0..<0, text) }

    /// Whether nothing has to be escaped: no byte is below the space, a quote or a backslash. By arithmetic whose sign
    /// bits tell it, and without an early end, so that the compiler looks at many bytes in one step.
    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            let quote = byte ^ UInt8(ascii: "\"")
            let backslash = byte ^ UInt8(ascii: "\\")
            found |= (byte &- 0x20) & ~byte
            found |= (quote &- 1) & ~quote
            found |= (backslash &- 1) & ~backslash
        }
        return found & 0x80 == 0
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        let letter: Unicode.Scalar
        switch byte {
        case UInt8(ascii: "\""): letter = "\""
        case UInt8(ascii: "\\"): letter = "\\"
        case 0x08: letter = "b"
        case 0x09: letter = "t"
        case 0x0A: letter = "n"
        case 0x0C: letter = "f"
        case 0x0D: letter = "r"
        case 0x00..<0x20:
            let digit = byte & 0x0F
            output.append(contentsOf: [
                UInt8(ascii: "\\"), UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"),
                UInt8(ascii: "0") + byte >> 4,
                digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10,
            ])
            return
        default:
            output.append(byte)
            return
        }
        output.append(UInt8(ascii: "\\"))
        output.append(UInt8(ascii: letter))
    }
}
