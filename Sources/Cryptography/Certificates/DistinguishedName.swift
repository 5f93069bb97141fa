// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Subjects and issuers.
enum DistinguishedName {
    /// A name in one line, as `openssl x509 -subject` writes it, but readable beyond ASCII.
    static func describe(_ name: OpaquePointer?) -> String {
        guard let name = unsafe name else { return "" }
        // XN_FLAG_ONELINE without ASN1_STRFLGS_ESC_MSB and spaces around "=".
        let flags = 1 | 2 | 8 | 0x10 | 0x100 | 0x200 | 2 << 16
        let buffer = MemoryBuffer()
        unsafe buffer.withBIO { _ = unsafe X509_NAME_print_ex($0, name, 0, UInt(flags)) }
        return buffer.text()
    }

    /// Adds fields to a name that something else owns.
    /// - Throws: `invalidInput` for a value that its field can't hold.
    static func add(
        _ fields: [(field: NameField, value: String)],
        to name: OpaquePointer?
    ) throws(CryptographyError) {
        for (field, value) in fields {
            let bytes = Array(value.utf8)
            // 0x1000 is MBSTRING_UTF8: OpenSSL picks the string type that the field asks for.
            guard
                unsafe X509_NAME_add_entry_by_NID(
                    name,
                    field.identifier,
                    0x1000,
                    bytes,
                    Int32(bytes.count),
                    -1,
                    0
                ) == 1
            else {
                throw OpenSSLFailures.drain().error(
                    .invalidInput,
                    "\(field.rawValue) takes \(field.limit), and not \"\(value.prefix(80))\""
                )
            }
        }
    }
}
