// SPDX-License-Identifier: Apache-2.0

/// URIs and relative references by RFC 3986.
package enum URIFormat {
    /// Whether a text is a URI with its scheme.
    package static func isURI(_ text: String) -> Bool { isReference(Array(text.utf8), absolute: true) }

    /// Whether bytes are a URI (with a scheme) or, when not `absolute`, a relative reference.
    static func isReference(_ bytes: [UInt8], absolute: Bool) -> Bool {
        var rest = bytes[...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            guard isText(rest[(hash + 1)...], and: ":@/?") else { return false }
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            guard isText(rest[(mark + 1)...], and: ":@/?") else { return false }
            rest = rest[..<mark]
        }
        var hasScheme = false
        let head = rest.prefix { $0 != UInt8(ascii: "/") }
        if let colon = head.firstIndex(of: UInt8(ascii: ":")) {
            // Without a scheme, a first segment with a colon would be taken for one (section 4.2).
            guard let first = head.first, TextFormat.isLetter(first), head[..<colon].allSatisfy(isSchemeByte) else {
                return false
            }
            hasScheme = true
            rest = rest[(colon + 1)...]
        }
        guard hasScheme || !absolute else { return false }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let authority = rest.prefix { $0 != UInt8(ascii: "/") }
            guard isAuthority(authority) else { return false }
            rest = rest[authority.endIndex...]
        }
        return isText(rest, and: ":@/")
    }

    static func isSchemeByte(_ byte: UInt8) -> Bool {
        TextFormat.isLetter(byte) || TextFormat.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    private static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            guard isText(rest[..<at], and: ":") else { return false }
            rest = rest[(at + 1)...]
        }
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let literal = rest[(rest.startIndex + 1)..<end]
            guard HostFormat.isIPv6(literal) || isFuture(literal) else { return false }
            rest = rest[(end + 1)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return false }
        }
        let host = rest.prefix { $0 != UInt8(ascii: ":") }
        return isText(host, and: "") && rest[host.endIndex...].dropFirst().allSatisfy(TextFormat.isDigit)
    }

    /// `v1.address`: an address form yet to come (section 3.2.2).
    private static func isFuture(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first | 0x20 == UInt8(ascii: "v"),
            let dot = bytes.firstIndex(of: UInt8(ascii: "."))
        else { return false }
        let version = bytes[(bytes.startIndex + 1)..<dot]
        let address = bytes[(dot + 1)...]
        return !version.isEmpty && version.allSatisfy { TextFormat.hexValue($0) != nil } && !address.isEmpty
            && isText(address, and: ":") && !address.contains(UInt8(ascii: "%"))
    }

    /// Unreserved characters, sub-delimiters, percent escapes and some more.
    private static func isText(_ bytes: ArraySlice<UInt8>, and more: String) -> Bool {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, TextFormat.hexValue(bytes[index + 1]) != nil,
                    TextFormat.hexValue(bytes[index + 2]) != nil
                else { return false }
                index += 3
            } else if TextFormat.isLetter(byte) || TextFormat.isDigit(byte) || isMark(byte) || more.utf8.contains(byte)
            {
                index += 1
            } else {
                return false
            }
        }
        return true
    }

    /// The marks among the unreserved characters, and the sub-delimiters.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "-", ".", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=": true
        default: false
        }
    }
}
