// SPDX-License-Identifier: Apache-2.0

/// What a signature file says, before anyone believes it.
package struct CMSSignedData: Sendable {
    /// How a signer names its certificate.
    package enum SignerIdentifier: Hashable, Sendable {
        /// SignerInfo version 3.
        case subjectKeyIdentifier([UInt8])
        /// SignerInfo version 1.
        case issuerAndSerial(issuer: String, serialHex: String)
    }

    /// One signer.
    package struct Signer: Sendable {
        package let identifier: SignerIdentifier
        /// Dotted, such as 2.16.840.1.101.3.4.2.1 for SHA-256.
        package let digestAlgorithm: String
        /// Dotted, such as 1.2.840.113549.1.1.1 for RSA.
        package let signatureAlgorithm: String
        /// Dotted, in the order of the file.
        package let signedAttributes: [String]
        /// Dotted, in the order of the file.
        package let unsignedAttributes: [String]
        /// Dotted value of the contentType attribute.
        package let contentType: String?
        /// Seconds since 1970; nil without a readable signingTime attribute.
        package let signingTime: Int64?
        /// Whether signingTime is UTCTime, as it must be before 2050.
        package let signingTimeIsUTCTime: Bool
        /// Whether signingTime is written to the second and in UTC, as RFC 5652 11.3 asks: `YYMMDDHHMMSSZ`, and in a
        /// GeneralizedTime `YYYYMMDDHHMMSSZ`.
        package let signingTimeIsExact: Bool
        /// The messageDigest attribute.
        package let messageDigest: [UInt8]?

        /// Whether the digest under the signature is SHA-256.
        package var usesSHA256: Bool { digestAlgorithm == "2.16.840.1.101.3.4.2.1" }
    }

    /// An embedded certificate that can't be read.
    package struct UnreadableCertificate: Hashable, Sendable {
        /// Its place among the embedded certificates, from 1 on.
        package let number: Int
        /// Why, in one sentence.
        package let reason: String
    }

    /// Embedded certificates that can be read, in the order of the file.
    package let certificates: [Certificate]
    /// Those that can't, in the order of the file.
    package let unreadableCertificates: [UnreadableCertificate]
    /// Wallet wants exactly one.
    package let signers: [Signer]
    /// Dotted type of the content.
    package let contentType: String
    /// Whether the content is elsewhere, as for orders.
    package let isDetached: Bool
    /// How the file is written.
    package let form: CMSForm
}
