// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Reads the `"key" = "text";` syntax.
struct StringsReader {
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var line = 1

    /// The keys that stood there before, each where it stands again.
    private(set) var repeated: [StringsError] = []

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    mutating func read() throws(StringsError) -> [StringsTable.Entry] {
        var entries: [StringsTable.Entry] = []
        var known: [ExactKey: (entry: Int, line: Int)] = [:]
        while true {
            try skip()
            guard position < scalars.count else { return entries }
            let keyLine = line
            let key = try word("a key")
            try skip()
            var text = key
            if peek == "=" {
                advance()
                try skip()
                text = try word("a text")
                try skip()
            }
            guard peek == ";" else { throw fault("';' is missing after the entry of \"\(DocumentWalk.shown(key))\"") }
            advance()
            let entry = StringsTable.Entry(key: key, text: text)
            if let (index, first) = known[ExactKey(key)] {
                // Readers of this syntax put one entry after the other into a dictionary: the last stays.
                entries[index] = entry
                repeated.append(
                    StringsError(
                        .duplicateKey,
                        line: keyLine,
                        "The key \"\(DocumentWalk.shown(key))\" stands twice, first on line \(first)"
                    )
                )
            } else {
                known[ExactKey(key)] = (entries.count, keyLine)
                entries.append(entry)
            }
            if entries.count + repeated.count > StringsTable.entryLimit {
                throw StringsError(.limit, line: line, "The file has more than \(StringsTable.entryLimit) entries")
            }
        }
    }

    private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }
    private var peekNext: Unicode.Scalar? { position + 1 < scalars.count ? scalars[position + 1] : nil }

    private mutating func advance() {
        // A line ends with LF, CR LF or CR alone.
        if scalars[position] == "\n" || (scalars[position] == "\r" && peekNext != "\n") { line += 1 }
        position += 1
    }

    private func fault(_ message: String) -> StringsError { StringsError(.syntax, line: line, message) }

    /// Blanks and comments.
    private mutating func skip() throws(StringsError) {
        while let scalar = peek {
            if scalar.properties.isWhitespace {
                advance()
            } else if scalar == "/", peekNext == "/" {
                while let next = peek, next != "\n", next != "\r" { advance() }
            } else if scalar == "/", peekNext == "*" {
                let start = line
                advance()
                advance()
                while !(peek == "*" && peekNext == "/") {
                    guard peek != nil else {
                        throw StringsError(.unterminated, line: start, "The comment is not closed")
                    }
                    advance()
                }
                advance()
                advance()
            } else {
                return
            }
        }
    }

    /// A quoted text, or a bare word of letters, digits and a few signs.
    private mutating func word(_ what: String) throws(StringsError) -> String {
        if peek == "\"" { return try quoted() }
        var output = String.UnicodeScalarView()
        while let scalar = peek, Self.isBare(scalar) {
            output.append(scalar)
            advance()
        }
        if output.isEmpty {
            let found = peek.map { "found \"\(DocumentWalk.shown(String($0)))\"" } ?? "the file ends"
            throw fault("Expected \(what) in quotes, \(found)")
        }
        return String(output)
    }

    private static func isBare(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$", ".", "-", ":": true
        default: false
        }
    }

    private mutating func quoted() throws(StringsError) -> String {
        let start = line
        advance()
        var units: [UInt16] = []
        while let scalar = peek {
            advance()
            switch scalar {
            case "\"": return String(decoding: units, as: UTF16.self)
            case "\\":
                guard let escape = peek else { break }
                advance()
                escaped(escape, &units)
            default: Self.append(scalar, to: &units)
            }
        }
        throw StringsError(.unterminated, line: start, "The text that begins here is not closed")
    }

    /// Escapes write UTF-16 units, so that a pair of `\U` escapes makes one character.
    private mutating func escaped(_ escape: Unicode.Scalar, _ units: inout [UInt16]) {
        switch escape {
        case "n": units.append(0x0A)
        case "r": units.append(0x0D)
        case "t": units.append(0x09)
        case "a": units.append(0x07)
        case "b": units.append(0x08)
        case "f": units.append(0x0C)
        case "v": units.append(0x0B)
        case "U", "u":
            var value: UInt16 = 0
            var digits = 0
            while digits < 4, let scalar = peek, let digit = Self.hexDigit(scalar) {
                value = value << 4 | digit
                digits += 1
                advance()
            }
            if digits == 0 { units.append(UInt16(truncatingIfNeeded: escape.value)) } else { units.append(value) }
        case "0"..."7":
            var value = UInt16(truncatingIfNeeded: escape.value - 0x30)
            var digits = 1
            while digits < 3, let scalar = peek, ("0"..."7").contains(scalar) {
                value = value << 3 | UInt16(truncatingIfNeeded: scalar.value - 0x30)
                digits += 1
                advance()
            }
            units.append(value)
        default: Self.append(escape, to: &units)
        }
    }

    private static func append(_ scalar: Unicode.Scalar, to units: inout [UInt16]) {
        if let encoded = UTF16.encode(scalar) { units.append(contentsOf: encoded) }
    }

    private static func hexDigit(_ scalar: Unicode.Scalar) -> UInt16? {
        switch scalar {
        case "0"..."9": UInt16(truncatingIfNeeded: scalar.value - 0x30)
        case "a"..."f": UInt16(truncatingIfNeeded: scalar.value - 0x61 + 10)
        case "A"..."F": UInt16(truncatingIfNeeded: scalar.value - 0x41 + 10)
        default: nil
        }
    }
}
