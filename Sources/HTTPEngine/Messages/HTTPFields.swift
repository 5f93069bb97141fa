// SPDX-License-Identifier: Apache-2.0

/// The header fields of a message (RFC 9110 5), in order, names in lower case.
///
/// A value of this type can always be written to the wire: a name that is no token is not taken, and bytes that could end a
/// line (CR, LF, NUL and other controls) become spaces as RFC 9110 5.5 allows. Writers need no check of their own, so header
/// injection is impossible in either protocol version.
package struct HTTPFields: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
    /// One field line.
    package struct Field: Sendable, Hashable {
        /// Lower-case token.
        package let name: String
        /// Without leading or trailing white space, without control characters but HTAB.
        package let value: String
    }

    /// The lines. Within the engine they are looked at through the array's span: an iterator copies each.
    private(set) var fields: [Field] = []

    /// No fields.
    package init() {}

    /// Fields in the order written; an invalid name is left out.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// How many field lines there are.
    package var count: Int { fields.count }
    /// Whether there is none.
    package var isEmpty: Bool { fields.isEmpty }

    /// The fields in order.
    package func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// The value of a field; several lines of a list field are joined with ", ", of any other the first counts.
    ///
    /// Setting replaces all lines of that name; nil removes them.
    package subscript(_ name: String) -> String? {
        get {
            let name = Self.lowercased(name)
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let value = fields[first].value
            guard first + 1 < fields.count, !Self.isSingleton(name),
                fields[(first + 1)...].contains(where: { $0.name == name })
            else { return value }
            return all(name).joined(separator: ", ")
        }
        set {
            let name = Self.lowercased(name)
            guard let newValue else {
                fields.removeAll { $0.name == name }
                return
            }
            guard let first = fields.firstIndex(where: { $0.name == name }) else {
                append(name, newValue)
                return
            }
            fields[first] = Field(name: name, value: Self.sanitized(newValue))
            var index = fields.count - 1
            while index > first {
                if fields[index].name == name { fields.remove(at: index) }
                index -= 1
            }
        }
    }

    /// The first line's value of a field whose name is given in lower case.
    func first(_ name: String) -> String? {
        let lines = fields.span
        let length = name.utf8.count
        // Most names are told apart by their length alone.
        for index in lines.indices where lines[index].name.utf8.count == length && lines[index].name == name {
            return lines[index].value
        }
        return nil
    }

    /// All values of a field, one a line, in order.
    package func all(_ name: String) -> [String] {
        let name = Self.lowercased(name)
        return fields.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether there is a line of that name.
    package func contains(_ name: String) -> Bool {
        let name = Self.lowercased(name)
        return fields.contains { $0.name == name }
    }

    /// The comma-separated elements of a list field, lower-cased, without white space; empty ones left out (RFC 9110 5.6.1).
    package func tokens(_ name: String) -> [String] {
        all(name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
                let text = Self.trimmed(String(Substring(element))).lowercased()
                return text.isEmpty ? nil : text
            }
        }
    }

    /// Adds a line. A name that is not a token is not taken.
    package mutating func append(_ name: String, _ value: String) {
        switch Self.form(of: name) {
        case .lowerToken: appendTrusted(name, Self.sanitized(value))
        case .token: appendTrusted(name.lowercased(), Self.sanitized(value))
        case .none: break
        }
    }

    /// Adds a line whose name is known to be a lower-case token and whose value has no control characters: what a parser just checked.
    mutating func appendTrusted(_ name: String, _ value: String) {
        if fields.isEmpty { fields.reserveCapacity(8) }
        fields.append(Field(name: name, value: value))
    }

    /// Takes over each line of `other`, replacing lines of the same name.
    package mutating func merge(_ other: HTTPFields) {
        for field in other.fields { self[field.name] = nil }
        fields.append(contentsOf: other.fields)
    }

    // MARK: Checks

    /// Fields of which only one line makes sense; joining them would invent a value.
    private static func isSingleton(_ name: String) -> Bool {
        switch name {
        case "set-cookie", "authorization", "content-length", "content-type", "date", "etag", "host",
            "if-modified-since",
            "if-unmodified-since", "last-modified", "location", "request-id", "idempotency-key", "user-agent":
            true
        default: false
        }
    }

    private enum NameForm {
        case token
        case lowerToken
    }

    /// What a name is, if it is one.
    private static func form(of name: String) -> NameForm? {
        let form = unsafe name.utf8.withContiguousStorageIfAvailable { unsafe Self.form(of: $0) }
        if let form { return form }
        return unsafe Array(name.utf8).withUnsafeBufferPointer { unsafe Self.form(of: $0) }
    }

    private static func form(of name: UnsafeBufferPointer<UInt8>) -> NameForm? {
        if unsafe HTTP1Bytes.isLowerToken(name) { return .lowerToken }
        var hasCapitals = false
        for index in 0..<name.count {
            let byte = unsafe name[index]
            guard HTTP1Bytes.isToken(byte) else { return nil }
            if byte &- 0x41 < 26 { hasCapitals = true }
        }
        return name.isEmpty ? nil : hasCapitals ? .token : .lowerToken
    }

    private static func lowercased(_ name: String) -> String {
        let bytes = name.utf8Span.span
        for index in bytes.indices where bytes[index] &- 0x41 < 26 { return name.lowercased() }
        return name
    }

    private static func sanitized(_ value: String) -> String {
        if isPlain(value) || isSendable(value.utf8Span.span) { return value }
        let clean = value.utf8.map { HTTP1Bytes.isFieldContent($0) ? $0 : 0x20 }
        return trimmed(String(decoding: clean, as: UTF8.self))
    }

    /// Whether it is clear at a quick look that nothing is to be changed.
    private static func isPlain(_ value: String) -> Bool {
        unsafe value.utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = unsafe bytes.first, let last = unsafe bytes.last else { return false }
            return unsafe !HTTP1Bytes.isBlank(first) && !HTTP1Bytes.isBlank(last) && HTTP1Bytes.isPlain(bytes)
        } ?? false
    }

    private static func isSendable(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty, !HTTP1Bytes.isBlank(bytes[0]), !HTTP1Bytes.isBlank(bytes[bytes.count - 1]) else {
            return false
        }
        for index in bytes.indices where !HTTP1Bytes.isFieldContent(bytes[index]) { return false }
        return true
    }

    private static func trimmed(_ value: String) -> String {
        var rest = value.utf8[...]
        while let first = rest.first, HTTP1Bytes.isBlank(first) { rest.removeFirst() }
        while let last = rest.last, HTTP1Bytes.isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}
