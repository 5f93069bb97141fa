// SPDX-License-Identifier: Apache-2.0
import ExactJSON

extension HTTPFields {
    /// The elements of `If-Match` or `If-None-Match`, quotes and `W/` kept; `*` is one of them. A comma inside quotes belongs
    /// to its tag (RFC 9110 8.8.3, 13.1).
    package func entityTags(_ name: String) -> [String] {
        all(name).flatMap { list -> [String] in
            var tags: [String] = []
            var tag: [UInt8] = []
            var isQuoted = false
            for byte in list.utf8 {
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                if byte == UInt8(ascii: ","), !isQuoted {
                    tags.append(String(decoding: tag, as: UTF8.self))
                    tag = []
                } else if isQuoted || !HTTP1Bytes.isBlank(byte) {
                    tag.append(byte)
                }
            }
            return (tags + [String(decoding: tag, as: UTF8.self)]).filter { !$0.isEmpty }
        }
    }

    /// Whether `If-None-Match` names a copy that is this one: weak comparison (RFC 9110 13.1.2), so `W/` does not matter.
    package func ifNoneMatch(holds entityTag: String) -> Bool {
        let isWeak = entityTag.beginsExactly(with: "W/")
        let strong = isWeak ? String(Substring(entityTag.utf8.dropFirst(2))) : entityTag
        return entityTags("if-none-match").contains { $0.isExactly(oneOf: ["*", strong, "W/" + strong]) }
    }
}
