// SPDX-License-Identifier: Apache-2.0

/// Detached signatures in the Cryptographic Message Syntax (RFC 5652), as Wallet reads them.
package enum CMS {
    /// `id-data`, the type of plain content.
    package static let dataType = "1.2.840.113549.1.7.1"
    /// The signed attribute that repeats the content's type.
    package static let contentTypeAttribute = "1.2.840.113549.1.9.3"
    /// The signed attribute with the content's digest.
    package static let messageDigestAttribute = "1.2.840.113549.1.9.4"
    /// The signed attribute with the time of signing.
    package static let signingTimeAttribute = "1.2.840.113549.1.9.5"
}
