// SPDX-License-Identifier: Apache-2.0

/// Finds the order type in the bytes of an order without reading the whole JSON, which would cost a tenth of a package.
enum OrderTypeMember {
    private static let name = Array("\"orderTypeIdentifier\"".utf8)

    /// Whether the document's own member `orderTypeIdentifier` is certainly this text: one object, one such member at its
    /// top level, both written without escapes. Anything else, nested objects' members of the name included, gives
    /// false, and the caller reads the JSON.
    ///
    /// - Parameter quoted: the expected value in quotation marks; it needs no escapes.
    static func certainlyIs(_ quoted: [UInt8], in order: [UInt8]) -> Bool {
        let bytes = order.span
        guard bytes.count > 0, bytes[0] == 0x7B else { return false }
        var depth = 0
        var isFound = false
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case 0x22:
                let start = index
                index += 1
                var isEscaped = false
                while index < bytes.count, bytes[index] != 0x22 {
                    if bytes[index] == 0x5C {
                        isEscaped = true
                        index += 1
                    }
                    index += 1
                }
                guard index < bytes.count else { return false }
                guard depth == 1, index + 1 < bytes.count, bytes[index + 1] == 0x3A else { break }
                // A member's name at the top level. An escape in it could spell anything.
                if isEscaped { return false }
                guard matches(name, at: start, in: bytes) else { break }
                guard !isFound, matches(quoted, at: index + 2, in: bytes) else { return false }
                isFound = true
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D:
                depth -= 1
                if depth == 0 { return isFound && index == bytes.count - 1 }
            case 0x00...0x20:
                // Compact JSON has no spaces outside its texts; with any, a name may stand apart from its colon.
                return false
            default: break
            }
            index += 1
        }
        return false
    }

    private static func matches(_ text: [UInt8], at start: Int, in bytes: Span<UInt8>) -> Bool {
        guard start + text.count <= bytes.count else { return false }
        for index in text.indices where bytes[start + index] != text[index] { return false }
        return true
    }
}
