// SPDX-License-Identifier: Apache-2.0

import Cryptography

@testable import OrderPackage

extension BrokenPackage {
    private static func signature(_ title: String, _ expected: [String], _ bytes: [UInt8]) -> BrokenPackage {
        BrokenPackage(title, expected.map { "\($0) signature" }) { $0.signature = bytes }
    }

    private static func forged(
        _ title: String,
        _ expected: [String],
        _ change: @escaping @Sendable (inout ForgedSignature) throws -> Void
    ) -> BrokenPackage {
        BrokenPackage(title, expected.map { "\($0) signature" }) { try $0.forge(change) }
    }

    /// Changes the bytes of the honest signature.
    private static func edited(
        _ title: String,
        _ expected: [String],
        _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> BrokenPackage {
        BrokenPackage(title, expected.map { "\($0) signature" }) {
            $0.signature = change(try $0.honestSignature($0.honestManifest()))
        }
    }

    /// Makes a date of the embedded intermediate unreadable: 0 for the first, 1 for the last.
    private static func withoutDate(_ index: Int, _ signature: [UInt8]) throws -> [UInt8] {
        let der = try Fixtures.authority().intermediate.der
        let times = der.indices.dropLast(15).filter { der[$0...].starts(with: [0x17, 0x0D]) && der[$0 + 14] == 0x5A }
        var bytes = signature
        let place = (bytes.indices.first { bytes[$0...].starts(with: der) } ?? 0) + times[index] + 2
        for offset in 0..<12 { bytes[place + offset] = 0x58 }
        return bytes
    }

    /// What there is to say where the intermediate is there, but can't be read.
    private static let withoutIntermediate = [
        "error chain-incomplete signature", "error signature-certificate-unreadable signature",
        "warning intermediate-missing signature",
    ]

    /// An octet string in the place of a certificate: strict DER, and no certificate.
    private static let junk = DER.sequence([DER.octetString([1, 2, 3])])

    /// `signature`.
    static let signatures: [BrokenPackage] = [
        signature("an empty signature", ["error signature-empty"], []),
        edited("a signature in PEM", ["error signature-pem"]) {
            Array("-----BEGIN CMS-----\n\(Base64.encode($0))\n-----END CMS-----\n".utf8)
        },
        edited("a signature as mail", ["error signature-mime"]) {
            Array("MIME-Version: 1.0\nContent-Type: multipart/signed\n\n\(Base64.encode($0))\n".utf8)
        },
        edited("a signature in Base64", ["error signature-not-der"]) { Array(Base64.encode($0).utf8) },
        BrokenPackage("a signature without its envelope", ["error signature-bare signature"]) {
            $0.signature = try Fixtures.authority().identity.key.signature(of: $0.honestManifest())
        },
        edited("a signature cut short", ["error signature-not-der"]) { Array($0.dropLast(100)) },
        BrokenPackage("a certificate whose first day can't be read", withoutIntermediate) {
            $0.signature = try withoutDate(0, $0.honestSignature($0.honestManifest()))
        },
        BrokenPackage("a certificate whose last day can't be read", withoutIntermediate) {
            $0.signature = try withoutDate(1, $0.honestSignature($0.honestManifest()))
        },
        forged("a further certificate that is none", ["error signature-certificate-unreadable"]) {
            $0.furtherCertificate = junk
        },
        forged(
            "a further certificate that is none, and no signing time, which OpenSSL reads",
            ["error signature-certificate-unreadable", "error signing-time-missing"]
        ) {
            $0.furtherCertificate = junk
            $0.attributes.remove(at: 1)
        },
        forged("a further certificate that is none, and no certificates", ["error signature-certificate-unreadable"]) {
            $0.certificates = []
            $0.furtherCertificate = junk
        },
        BrokenPackage(
            "a leaf with an extension that can't be read",
            ["error signature-certificate-unreadable signature"]
        ) {
            let authority = try Fixtures.authority()
            var der = authority.identity.certificate.der
            // The extended key usage as a set, where a sequence must stand.
            let usage: [UInt8] = [0x06, 0x03, 0x55, 0x1D, 0x25, 0x04]
            let place = der.indices.first { der[$0...].starts(with: usage) } ?? 0
            der[place + usage.count + 1] = 0x31
            try $0.forge {
                $0.certificates = [authority.intermediate]
                $0.furtherCertificate = der
            }
        },
        edited("a line end after the signature", ["error signature-not-der"]) { $0 + [0x0A] },
        BrokenPackage("a certificate for a signature", ["error signature-not-der signature"]) {
            $0.signature = try Fixtures.authority().identity.certificate.der
        },
        signature(
            "CMS that isn't signed",
            ["error signature-not-der"],
            DER.sequence([ForgedSignature.object(CMS.dataType), DER.value(0xA0, DER.octetString([1]))])
        ),
        signature("70 KB of signature", ["error signature-too-large"], [UInt8](repeating: 0x30, count: 70_000)),
        forged("the forged signature, unspoilt", []) { _ in },
        forged("the signer by issuer and serial number", []) {
            $0.version = 1
            $0.identifier = .issuer
        },
        forged("a version that isn't the identifier's", ["warning signature-version"]) { $0.version = 1 },
        forged("version 1 over a signer by key identifier", ["warning signature-version"]) { $0.dataVersion = [1] },
        forged("version 99", ["warning signature-version"]) { $0.dataVersion = [99] },
        forged("version -5", ["warning signature-version"]) { $0.dataVersion = [0xFB] },
        forged("version 1 over a signer by issuer and serial number", []) {
            $0.dataVersion = [1]
            $0.version = 1
            $0.identifier = .issuer
        },
        forged("a key identifier under an explicit tag", ["error signature-signer-identifier"]) {
            $0.identifier = .explicitKey
        },
        forged("a signature of unknown length", ["warning signature-ber"]) { $0.isStreamed = true },
        forged("a signature that holds the manifest", ["error signature-not-detached"]) { $0.content = $0.manifest },
        forged("another type of content", ["error signature-content-type", "error signature-content-type"]) {
            $0.contentType = "1.2.840.113549.1.7.2"
            $0.attributes[0] = ForgedSignature.contentTypeAttribute("1.2.840.113549.1.7.2")
        },
        forged("another type of content among the attributes", ["error signature-content-type"]) {
            $0.attributes[0] = ForgedSignature.contentTypeAttribute("1.2.840.113549.1.7.2")
        },
        forged("no attributes", ["error signature-without-attributes"]) { $0.attributes = [] },
        forged("no signing time", ["error signing-time-missing"]) { $0.attributes.remove(at: 1) },
        forged("no message digest", ["error signature-attribute-missing"]) { $0.attributes.remove(at: 2) },
        forged("no content type", ["error signature-attribute-missing"]) { $0.attributes.remove(at: 0) },
        forged("attributes in another order", ["warning signature-attribute-order"]) { $0.attributes.reverse() },
        forged("the signing time twice", ["error signature-attribute-repeated"]) {
            $0.attributes.insert($0.attributes[1], at: 1)
        },
        forged("a signing time with fractions and a century", ["warning signing-time-form"]) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("20260101000000Z".utf8), tag: 0x18)
        },
        forged("a signing time in another zone", ["warning signing-time-form"]) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("260101010000+0100".utf8), tag: 0x17)
        },
        forged("a signing time without seconds", ["warning signing-time-form"]) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("2601010000Z".utf8), tag: 0x17)
        },
        forged(
            "a signing time in the year 2050, with fractions",
            Array(repeating: "error certificate-expired", count: 3)
                + ["warning signing-time-form", "warning signing-time-future"]
        ) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("20500101000000.5Z".utf8), tag: 0x18)
        },
        forged("a signing time that is none", ["error signing-time-form"]) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("yesterday".utf8), tag: 0x0C)
        },
        forged(
            "a signing time in the year 2049",
            Array(repeating: "error certificate-expired", count: 3) + ["warning signing-time-future"]
        ) {
            $0.attributes[1] = ForgedSignature.signingTime(Array("490101000000Z".utf8), tag: 0x17)
        },
        forged("a further attribute", ["note signature-attribute"]) {
            $0.attributes.append(
                ForgedSignature.attribute(
                    "1.2.840.113549.1.9.15",
                    DER.sequence([DER.octetString([UInt8](repeating: 5, count: 80))])
                )
            )
        },
        forged("an unsigned attribute", ["note signature-attribute"]) {
            $0.unsignedAttributes = [ForgedSignature.attribute("1.2.840.113549.1.9.16.2.14", DER.sequence([]))]
        },
        forged("SHA-1", ["error signature-digest-algorithm"]) { $0.digestAlgorithm = "1.3.14.3.2.26" },
        forged("an elliptic curve's algorithm", ["error signature-algorithm"]) {
            $0.signatureAlgorithm = "1.2.840.10045.4.3.2"
        },
        forged("RSA with SHA-512 over SHA-256", ["warning signature-algorithm"]) {
            $0.signatureAlgorithm = "1.2.840.113549.1.1.13"
        },
        forged("RSA with SHA-256 over SHA-256", []) { $0.signatureAlgorithm = "1.2.840.113549.1.1.11" },
        forged("a byte of the signature changed", ["error signature-invalid"]) { $0.spoil = { $0[100] ^= 1 } },
        forged("another's key", ["error signature-invalid"]) { $0.signer.1 = try Fixtures.authority().intermediateKey },
        forged("two signers", ["error signature-signers"]) { $0.signers = 2 },
        forged("no signer", ["error signature-signers"]) { $0.signers = 0 },
        forged("no certificates", ["error signer-missing"]) { $0.certificates = [] },
        forged("the intermediate alone", ["error signer-missing"]) { $0.certificates.remove(at: 0) },
        forged("another key's identifier", ["error signer-missing"]) { $0.identifier = .otherKey },
        forged("a revocation list", ["note signature-revocation-list"]) {
            let algorithm = DER.sequence([ForgedSignature.object("1.2.840.113549.1.1.11"), DER.null])
            let body = DER.sequence([algorithm, DER.sequence([]), DER.value(0x17, Array("260101000000Z".utf8))])
            $0.revocationLists = DER.sequence([body, algorithm, DER.value(0x03, [0, 1])])
        },
        forged("the root embedded", ["note signature-root"]) { $0.certificates.append(try Fixtures.authority().root) },
    ]
}
