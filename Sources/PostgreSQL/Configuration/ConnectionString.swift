// SPDX-License-Identifier: Apache-2.0
import CLibPQ

/// libpq's two ways of writing down a connection, read by libpq itself.
internal enum ConnectionString {
    /// The keywords that the text sets.
    ///
    /// - Throws: `PostgresError(.configuration)`.
    static func parse(_ text: String) throws(PostgresError) -> [String: String] {
        guard !text.utf8.contains(0) else { throw PostgresError(.configuration, "the database URL contains a NUL") }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(text, &message) else {
            let looksLikeURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
            if let message = unsafe message { unsafe PQfreemem(message) }
            // libpq's message quotes parts of the text, and with it perhaps a password.
            throw PostgresError(
                .configuration,
                looksLikeURL
                    ? "the database URL can't be read; write postgresql://user@host:port/database?keyword=value"
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

    /// A comma-separated list, empty items kept: they mean "the default".
    static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
