// SPDX-License-Identifier: Apache-2.0

/// Writes values as JSON text in UTF-8.
///
/// Only what RFC 8259 section 7 requires is escaped: the quote, the backslash and control characters.
struct JSONWriter {
    let style: JSONStyle
    private(set) var output: [UInt8] = []
    private var depth = 0

    init(style: JSONStyle) {
        self.style = style
        output.reserveCapacity(512)
    }

    /// Appends a value.
    mutating func write(_ value: JSONValue) {
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

    private mutating func write(_ text: String) {
        let bytes = text.utf8.span
        // Texts without escapes go out in one sweep; the rest of others byte by byte.
        var swept = 0
        output.append(addingCapacity: bytes.count + 2) { span in
            span.append(UInt8(ascii: "\""))
            while swept < bytes.count {
                let byte = bytes[swept]
                if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
                span.append(byte)
                swept += 1
            }
            span.append(UInt8(ascii: "\""))
        }
        guard swept < bytes.count else { return }
        for index in swept..<bytes.count { writeEscaped(bytes[index]) }
        output.append(UInt8(ascii: "\""))
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
