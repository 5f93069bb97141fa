// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// What a certificate that we issue will say: for test authorities, simulators and TLS on a developer's machine.
package struct CertificateTemplate: Sendable {
    /// What the key may be used for (RFC 5280 4.2.1.3).
    package struct KeyUsage: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Sign content and handshakes.
        package static let digitalSignature = KeyUsage(rawValue: 1 << 15)
        /// Take an encrypted key (RSA key exchange).
        package static let keyEncipherment = KeyUsage(rawValue: 1 << 13)
        /// Sign certificates.
        package static let certificateSigning = KeyUsage(rawValue: 1 << 10)
        /// Sign revocation lists.
        package static let revocationSigning = KeyUsage(rawValue: 1 << 9)

        /// The DER of the BIT STRING, without trailing zero bits as DER wants.
        var der: [UInt8] {
            guard rawValue != 0 else { return DER.value(0x03, [0]) }
            let unused = UInt8(rawValue.trailingZeroBitCount)
            let bytes = [UInt8(rawValue >> 8), UInt8(rawValue & 0xff)]
            return DER.value(0x03, unused >= 8 ? [unused - 8, bytes[0]] : [unused] + bytes)
        }
    }

    /// An extension that isn't one of the standard ones.
    package struct PrivateExtension: Hashable, Sendable {
        /// Dotted object identifier.
        package var oid: String
        /// What stands inside the extension's octet string.
        package var der: [UInt8]
        /// Whether a reader that doesn't know it must refuse the certificate.
        package var isCritical: Bool

        package init(oid: String, der: [UInt8], isCritical: Bool = false) {
            self.oid = oid
            self.der = der
            self.isCritical = isCritical
        }

        /// A marker: the value is NULL.
        package static func marker(_ oid: String) -> PrivateExtension { .init(oid: oid, der: DER.null) }

        /// A UTF8String.
        package static func text(_ oid: String, _ text: String) -> PrivateExtension {
            .init(oid: oid, der: DER.utf8String(text))
        }
    }

    /// How the certificate is signed. SHA-1 exists to make what readers must refuse.
    package enum Signature: Hashable, Sendable {
        case sha256
        case sha1
    }

    /// The subject, in this order.
    package var subject: [(field: NameField, value: String)]
    /// Seconds since 1970.
    package var notBefore: Int64
    /// Seconds since 1970.
    package var notAfter: Int64
    /// Whether it may issue certificates; says basicConstraints, critical.
    package var isCA = false
    /// How many intermediates may stand below a CA; nil for any number.
    package var pathLength: Int?
    /// Key usage, critical; nil leaves it out.
    package var keyUsage: KeyUsage? = .digitalSignature
    /// Dotted object identifiers.
    package var extendedKeyUsage: [String] = []
    /// Added after the standard ones.
    package var privateExtensions: [PrivateExtension] = []
    /// Host names for TLS.
    package var dnsNames: [String] = []
    /// IPv4 or IPv6 addresses in text for TLS.
    package var ipAddresses: [String] = []
    /// Whether to name the key by its SHA-1, as nearly all authorities do.
    package var hasKeyIdentifiers = true
    /// The serial number, big-endian; nil for 16 random bytes.
    package var serial: [UInt8]?
    /// The digest under the signature.
    package var signature: Signature = .sha256

    /// A template for an end certificate that signs.
    package init(subject: [(field: NameField, value: String)], notBefore: Int64, notAfter: Int64) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A template for an authority.
    package static func authority(
        subject: [(field: NameField, value: String)],
        notBefore: Int64,
        notAfter: Int64
    ) -> CertificateTemplate {
        var template = CertificateTemplate(subject: subject, notBefore: notBefore, notAfter: notAfter)
        template.isCA = true
        template.keyUsage = [.certificateSigning, .revocationSigning]
        return template
    }

    /// A template for a TLS server under these names.
    package static func server(
        dnsNames: [String] = ["localhost"],
        ipAddresses: [String] = ["127.0.0.1", "::1"],
        notBefore: Int64,
        notAfter: Int64
    ) -> CertificateTemplate {
        let name = dnsNames.first ?? ipAddresses.first ?? "server"
        var template = CertificateTemplate(
            subject: [(.commonName, name)],
            notBefore: notBefore,
            notAfter: notAfter
        )
        template.keyUsage = [.digitalSignature, .keyEncipherment]
        template.extendedKeyUsage = ["1.3.6.1.5.5.7.3.1"]
        template.dnsNames = dnsNames
        template.ipAddresses = ipAddresses
        return template
    }
}
