// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// The texts of one language: the contents of an `order.strings` file.
///
/// Apple: WalletOrders, "Creating the source for an order". Wallet replaces each localizable text of the order that is a key
/// here by its value.
public struct StringsTable: Sendable, Hashable {
    /// A key and its text.
    public struct Entry: Sendable, Hashable {
        /// What stands in the order.
        public let key: String
        /// What the customer reads.
        public let text: String

        /// An entry.
        public init(key: String, text: String) {
            self.key = key
            self.text = text
        }

        /// Whether key and text are the same, code point by code point.
        public static func == (left: Self, right: Self) -> Bool {
            left.key.isExactly(right.key) && left.text.isExactly(right.text)
        }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ExactKey(key))
            hasher.combine(ExactKey(text))
        }
    }

    /// More entries than this are refused.
    public static let entryLimit = 10_000
    /// Files longer than this, in bytes, are refused.
    public static let byteLimit = 1 << 20

    /// The entries in the order of the file.
    public let entries: [Entry]
    /// Keys that stood in the file before, each with the line on which it stands again; the last text of each counts.
    public private(set) var repeated: [StringsError] = []
    private let texts: [ExactKey: String]

    /// A table of entries; of several with one key the first counts.
    public init(_ entries: [Entry]) {
        var texts: [ExactKey: String] = [:]
        self.entries = entries.filter { entry in
            guard texts[ExactKey(entry.key)] == nil else { return false }
            texts[ExactKey(entry.key)] = entry.text
            return true
        }
        self.texts = texts
    }

    /// The table that a request holds as `{"key": "text"}`, and what is wrong with it; pointers begin at that object.
    public static func read(_ json: JSONValue) -> (table: StringsTable?, findings: [Finding]) {
        guard case .object(let object) = json else {
            return (nil, [wrongType([], "Expected an object of texts, found \(json.typePhrase).")])
        }
        var entries: [Entry] = []
        var findings = BoundedFindings()
        for (key, value) in object {
            if let text = value.stringValue {
                entries.append(Entry(key: key, text: text))
            } else {
                findings.append(wrongType([key], "Expected a string, found \(value.typePhrase)."))
            }
        }
        if entries.count > entryLimit { findings.append(wrongType([], "There are more than \(entryLimit) texts.")) }
        return (findings.list.isEmpty ? StringsTable(entries) : nil, findings.list)
    }

    private static func wrongType(_ tokens: [String], _ message: String) -> Finding {
        Finding(
            severity: .error,
            code: "wrong-type",
            pointer: JSONPointer(tokens: tokens),
            message: message,
            fix: "Send {\"key\": \"text\"}."
        )
    }

    /// Whether the same entries stand in the same order.
    public static func == (left: Self, right: Self) -> Bool {
        left.entries == right.entries && left.repeated == right.repeated
    }

    /// Hashes the entries.
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }

    /// The text of a key.
    public subscript(key: String) -> String? { texts[ExactKey(key)] }

    /// The keys in the order of the file.
    public var keys: [String] { entries.map(\.key) }

    /// `{"key": "text"}`.
    public var json: JSONValue { .object(JSONObject(entries.map { ($0.key, .string($0.text)) })) }

    /// Reads a file: UTF-8 with or without byte order mark, UTF-16 of either byte order, `"key" = "text";`, comments of both
    /// kinds, escapes.
    ///
    /// - Throws: ``StringsError`` with the line of the fault.
    public static func parse(_ bytes: [UInt8]) throws(StringsError) -> StringsTable {
        var reader = StringsReader(try StringsEncoding.decode(bytes))
        var table = StringsTable(try reader.read())
        table.repeated = reader.repeated
        return table
    }

    /// The file: ASCII when that is enough, else UTF-16 with a byte order mark, as Apple asks for.
    public func write() -> [UInt8] {
        var text = ""
        for entry in entries {
            text += "\"\(Self.escaped(entry.key))\" = \"\(Self.escaped(entry.text))\";\n"
        }
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.utf8) }
        var bytes: [UInt8] = [0xFF, 0xFE]
        bytes.reserveCapacity(text.utf16.count * 2 + 2)
        for unit in text.utf16 {
            bytes.append(UInt8(truncatingIfNeeded: unit))
            bytes.append(UInt8(truncatingIfNeeded: unit >> 8))
        }
        return bytes
    }

    private static func escaped(_ text: String) -> String {
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    let digits = String(scalar.value, radix: 16)
                    output += "\\U" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    output.unicodeScalars.append(scalar)
                }
            }
        }
        return output
    }
}
