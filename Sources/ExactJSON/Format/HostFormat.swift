// SPDX-License-Identifier: Apache-2.0

/// Host names, addresses and mailboxes.
enum HostFormat {
    /// RFC 1123 section 2.1: labels of letters, digits and inner hyphens, up to 63 bytes each and 253 in all.
    static func isHostname(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= 253 else { return false }
        return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            guard let first = label.first, let last = label.last, label.count <= 63, first != UInt8(ascii: "-"),
                last != UInt8(ascii: "-")
            else { return false }
            return label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    /// RFC 2673 section 3.2: four decimal numbers, without leading zeros.
    static func isIPv4(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return false }
        return parts.allSatisfy { part in
            guard (1...3).contains(part.count), part.allSatisfy(TextFormat.isDigit),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return false }
            return part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 255
        }
    }

    /// RFC 4291 section 2.2, without a zone.
    static func isIPv6(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 2, bytes.count <= 45 else { return false }
        let bytes = Array(bytes)
        let colon = UInt8(ascii: ":")
        var gap: Int?
        for index in 0..<(bytes.count - 1) where bytes[index] == colon && bytes[index + 1] == colon {
            if gap != nil { return false }
            gap = index
        }
        func groups(_ part: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> Int? {
            guard !part.isEmpty else { return 0 }
            let pieces = part.split(separator: colon, omittingEmptySubsequences: false)
            var count = 0
            for (index, piece) in pieces.enumerated() {
                if mayEndInIPv4, index == pieces.count - 1, piece.contains(UInt8(ascii: ".")) {
                    guard isIPv4(piece) else { return nil }
                    count += 2
                } else {
                    guard (1...4).contains(piece.count), piece.allSatisfy({ TextFormat.hexValue($0) != nil }) else {
                        return nil
                    }
                    count += 1
                }
            }
            return count
        }
        guard let gap else { return groups(bytes[...], mayEndInIPv4: true) == 8 }
        guard let before = groups(bytes[..<gap], mayEndInIPv4: false),
            let after = groups(bytes[(gap + 2)...], mayEndInIPv4: true)
        else { return false }
        return before + after <= 7
    }

    /// RFC 5321 section 4.1.2, Mailbox.
    static func isEmail(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 254, let at = bytes.lastIndex(of: UInt8(ascii: "@")), at > 0, at <= 64 else {
            return false
        }
        return isLocalPart(bytes[..<at]) && isMailDomain(bytes[(at + 1)...])
    }

    private static func isLocalPart(_ bytes: ArraySlice<UInt8>) -> Bool {
        let quote = UInt8(ascii: "\"")
        if bytes.first == quote {
            guard bytes.count >= 2, bytes.last == quote else { return false }
            var escaped = false
            for byte in bytes.dropFirst().dropLast() {
                guard byte >= 0x20, byte < 0x7F else { return false }
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == quote {
                    return false
                }
            }
            return !escaped
        }
        let special = Array("!#$%&'*+-/=?^_`{|}~".utf8)
        return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { isAlphanumeric($0) || special.contains($0) }
        }
    }

    private static func isMailDomain(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "[") else { return isHostname(bytes) }
        guard bytes.last == UInt8(ascii: "]") else { return false }
        let address = bytes.dropFirst().dropLast()
        let tag = Array("IPv6:".utf8)
        return address.starts(with: tag) ? isIPv6(address.dropFirst(tag.count)) : isIPv4(address)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { TextFormat.isDigit(byte) || TextFormat.isLetter(byte) }
}
