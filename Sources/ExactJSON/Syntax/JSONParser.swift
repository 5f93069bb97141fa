// SPDX-License-Identifier: Apache-2.0

/// A strict reader of JSON texts (RFC 8259): one pass, one step a byte.
///
/// It recurses once a level, so the depth limit bounds the stack too.
struct JSONParser {
    let limits: JSONLimits
    var index = 0
    private var depth = 0
    private var values = 0

    init(limits: JSONLimits) { self.limits = limits }

    /// Whether a text starts with a byte order mark. RFC 8259 section 8.1 lets a reader pass over it.
    static func startsWithMark(_ text: Span<UInt8>) -> Bool {
        text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
    }

    /// Reads a whole text: one value, nothing after it.
    mutating func document(_ text: Span<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        guard text.count <= limits.bytes else {
            throw JSONSyntaxError(
                .limit,
                text,
                at: limits.bytes,
                "The text is \(text.count) bytes long; at most \(limits.bytes) are taken."
            )
        }
        if Self.startsWithMark(text) { index = 3 }
        skipSpace(text)
        let value = try value(text)
        skipSpace(text)
        guard index == text.count else { throw trailing(text) }
        return value
    }

    /// Passes over white space. Returns whether a byte is left.
    private mutating func skipSpace(_ text: Span<UInt8>) {
        while index < text.count {
            switch text[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return
            }
        }
    }

    private mutating func value(_ text: Span<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        guard index < text.count else { throw end(text, "write one JSON value, such as {}") }
        values += 1
        guard values <= limits.values else {
            throw JSONSyntaxError(
                .limit,
                text,
                at: index,
                "The text holds more than \(limits.values) values; send it in parts."
            )
        }
        switch text[index] {
        case UInt8(ascii: "\""):
            return .string(try string(text))
        case UInt8(ascii: "{"):
            return .object(try object(text))
        case UInt8(ascii: "["):
            return .array(try array(text))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number(text))
        case UInt8(ascii: "t") where matches(text, "true"):
            return .bool(true)
        case UInt8(ascii: "f") where matches(text, "false"):
            return .bool(false)
        case UInt8(ascii: "n") where matches(text, "null"):
            return .null
        default:
            throw unexpectedValue(text)
        }
    }

    /// Takes a word if it stands here, whole.
    private mutating func matches(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index + count <= text.count else { return false }
        // The first letter has matched; the rest is spelled out to stay clear of pointers.
        let rest: (UInt8, UInt8, UInt8, UInt8)
        switch count {
        case 5: rest = (0x61, 0x6C, 0x73, 0x65)  // alse
        default:
            rest =
                text[index] == UInt8(ascii: "t")
                ? (0x72, 0x75, 0x65, 0) : (0x75, 0x6C, 0x6C, 0)  // rue, ull
        }
        guard text[index + 1] == rest.0, text[index + 2] == rest.1, text[index + 3] == rest.2 else { return false }
        if count == 5, text[index + 4] != rest.3 { return false }
        if index + count < text.count, Self.isWordByte(text[index + count]) { return false }
        index += count
        return true
    }

    private mutating func enter(_ text: Span<UInt8>) throws(JSONSyntaxError) {
        depth += 1
        guard depth <= limits.depth else {
            throw JSONSyntaxError(
                .limit,
                text,
                at: index,
                "Arrays and objects nest deeper than \(limits.depth) levels."
            )
        }
        index += 1
        skipSpace(text)
    }

    private mutating func array(_ text: Span<UInt8>) throws(JSONSyntaxError) -> [JSONValue] {
        try enter(text)
        var elements: [JSONValue] = []
        if index < text.count, text[index] == UInt8(ascii: "]") {
            index += 1
            depth -= 1
            return elements
        }
        while true {
            guard index < text.count else { throw end(text, "the array is open; close it with ]") }
            if text[index] == UInt8(ascii: ",") { throw extraComma(text) }
            elements.append(try value(text))
            skipSpace(text)
            guard index < text.count else { throw end(text, "the array is open; close it with ]") }
            switch text[index] {
            case UInt8(ascii: ","):
                let comma = index
                index += 1
                skipSpace(text)
                if index < text.count, text[index] == UInt8(ascii: "]") { throw trailingComma(text, at: comma, "]") }
            case UInt8(ascii: "]"):
                index += 1
                depth -= 1
                return elements
            default:
                throw missingComma(text, "elements", "]")
            }
        }
    }

    private mutating func object(_ text: Span<UInt8>) throws(JSONSyntaxError) -> JSONObject {
        try enter(text)
        var object = JSONObject()
        if index < text.count, text[index] == UInt8(ascii: "}") {
            index += 1
            depth -= 1
            return object
        }
        while true {
            guard index < text.count else { throw end(text, "the object is open; close it with }") }
            guard text[index] == UInt8(ascii: "\"") else { throw badName(text) }
            let start = index
            let name = try string(text)
            if object.contains(name) {
                throw JSONSyntaxError(
                    .duplicateName,
                    text,
                    at: start,
                    "The member \(Self.quoted(name)) occurs twice in one object; keep one of them."
                )
            }
            skipSpace(text)
            guard index < text.count else { throw end(text, "a member name is followed by a colon and a value") }
            guard text[index] == UInt8(ascii: ":") else { throw missingColon(text) }
            index += 1
            skipSpace(text)
            if index < text.count, text[index] == UInt8(ascii: "}") || text[index] == UInt8(ascii: ",") {
                throw JSONSyntaxError(
                    .unexpectedCharacter,
                    text,
                    at: index,
                    "The member has no value; write one, such as null."
                )
            }
            let value = try value(text)
            object.append(name, value)
            skipSpace(text)
            guard index < text.count else { throw end(text, "the object is open; close it with }") }
            switch text[index] {
            case UInt8(ascii: ","):
                let comma = index
                index += 1
                skipSpace(text)
                if index < text.count, text[index] == UInt8(ascii: "}") { throw trailingComma(text, at: comma, "}") }
            case UInt8(ascii: "}"):
                index += 1
                depth -= 1
                return object
            default:
                throw missingComma(text, "members", "}")
            }
        }
    }

    private mutating func number(_ text: Span<UInt8>) throws(JSONSyntaxError) -> JSONNumber {
        switch JSONNumberGrammar.scan(text, from: index) {
        case .fault(let offset, let message):
            if let word = word(text, at: offset), Self.suggestions[word] != nil { throw unknownWord(text, word) }
            throw JSONSyntaxError(.badNumber, text, at: offset, message)
        case .number(let end):
            if end < text.count, Self.isWordByte(text[end]) {
                throw JSONSyntaxError(
                    .badNumber,
                    text,
                    at: end,
                    "A number holds digits, one decimal point and an exponent only; put other text in quotes."
                )
            }
            let number = JSONNumber(checked: try copy(text, index, end))
            index = end
            return number
        }
    }
}
