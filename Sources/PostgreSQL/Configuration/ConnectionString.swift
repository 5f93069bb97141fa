// SPDX-License-Identifier: Apache-2.0
import CLibPQ

/// libpq's two ways of writing down a connection, read by libpq itself.
internal enum ConnectionString {
    /// The keywords that the text sets.
    ///
    /// - Throws: `PostgresError(.configuration)`.
    static func parse(_ text: String) throws(PostgresError) -> [String: String] {
        guard !text.utf8.contains(0) else { throw PostgresError(.configuration, "the database URL contains a NUL") }
        try self.checkUserInformation(text)
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(text, &message) else {
            let looksLikeURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
            if let message = unsafe message { unsafe PQfreemem(message) }
            // libpq's message quotes parts of the text, and with it perhaps a password.
            throw PostgresError(
                .configuration,
                looksLikeURL
                    ? "the database URL can't be read; write postgresql://user@host:port/database?keyword=value, and in a user "
                        + "or password @ as %40, / as %2F, # as %23, ? as %3F, % as %25"
                    : "the database settings can't be read; write a postgresql:// URL or keyword=value pairs"
            )
        }
        defer { unsafe PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe values[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return values
    }

    /// Refuses a URL whose password has ended before its end, at an `@` or `/` that was not encoded (RFC 3986 3.2.1): the
    /// rest of it would be taken for a host or a database, and stand in messages.
    private static func checkUserInformation(_ text: String) throws(PostgresError) {
        guard let scheme = ["postgres://", "postgresql://"].first(where: text.hasPrefix) else { return }
        let rest = text.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "?") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let at = UInt8(ascii: "@")
        guard authority.count(where: { $0 == at }) <= 1, !rest.dropFirst(authority.count).contains(at) else {
            throw PostgresError(
                .configuration,
                "the database URL has an @ too many: in a user or password write @ as %40, / as %2F, : as %3A, % as %25"
            )
        }
    }

    /// Whether a text can be a host: a name, an address, or a socket's folder or abstract name (libpq's `@`).
    static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("/") || text.hasPrefix("@") { return true }
        let isAddress = text.utf8.contains(UInt8(ascii: ":"))
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
                UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            // A zone: fe80::1%eth0.
            case UInt8(ascii: "%"): isAddress
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                !isAddress || text.contains("%")
            default: byte >= 0x80 && !isAddress
            }
        }
    }

    /// A comma-separated list, empty items kept: they mean "the default".
    static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
