// SPDX-License-Identifier: Apache-2.0

import Cryptography

@testable import OrderPackage

/// A CMS signature put together by hand, to be wrong in one way.
struct ForgedSignature {
    /// How the signer's certificate is named.
    enum Identifier {
        case key, explicitKey, otherKey
        /// Issuer and serial number, as the certificate has them.
        case issuer
    }

    static let sha256 = "2.16.840.1.101.3.4.2.1"
    static let rsa = "1.2.840.113549.1.1.1"

    let manifest: [UInt8]
    var signer: (Certificate, PrivateKey)
    var certificates: [Certificate]
    /// Bytes that stand behind the certificates.
    var furtherCertificate: [UInt8] = []
    /// The INTEGER of SignedData's version, and the number of the signer's.
    var dataVersion: [UInt8] = [3]
    var version = 3
    var identifier = Identifier.key
    var contentType = CMS.dataType
    var digestAlgorithm = sha256
    var signatureAlgorithm = rsa
    /// The embedded content; nil for none.
    var content: [UInt8]?
    /// The attributes in the order in which they are written and signed.
    var attributes: [[UInt8]]
    var unsignedAttributes: [[UInt8]] = []
    var revocationLists: [UInt8] = []
    var signers = 1
    /// Whether SignedData has a length that is only known at its end, as streaming writers make it.
    var isStreamed = false
    var spoil: (inout [UInt8]) -> Void = { _ in }

    init(_ manifest: [UInt8]) throws {
        let authority = try Fixtures.authority()
        self.manifest = manifest
        signer = (authority.identity.certificate, authority.identity.key)
        certificates = [authority.identity.certificate, authority.intermediate]
        attributes = [
            Self.contentTypeAttribute(), Self.signingTime(Array("260101000000Z".utf8), tag: 0x17),
            Self.digest(SHA256.hash(manifest).bytes),
        ]
    }

    static func object(_ dotted: String) -> [UInt8] { DER.objectIdentifier(dotted) ?? [] }

    static func attribute(_ oid: String, _ value: [UInt8]) -> [UInt8] {
        DER.sequence([object(oid), DER.value(0x31, value)])
    }

    static func contentTypeAttribute(_ type: String = CMS.dataType) -> [UInt8] {
        attribute(CMS.contentTypeAttribute, object(type))
    }

    static func signingTime(_ text: [UInt8], tag: UInt8) -> [UInt8] {
        attribute(CMS.signingTimeAttribute, DER.value(tag, text))
    }

    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        attribute(CMS.messageDigestAttribute, DER.octetString(bytes))
    }

    private var signerIdentifier: [UInt8] {
        let key = signer.0.subjectKeyIdentifier ?? []
        switch identifier {
        case .key: return DER.value(0x80, key)
        case .explicitKey: return DER.value(0xA0, DER.octetString(key))
        case .otherKey: return DER.value(0x80, key.map { ~$0 })
        case .issuer: return Self.issuerAndSerial(signer.0)
        }
    }

    /// The issuer and serial number cut out of a certificate: its second and fourth field (RFC 5280 4.1).
    private static func issuerAndSerial(_ certificate: Certificate) -> [UInt8] {
        func parts(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
            var parts: [ArraySlice<UInt8>] = []
            var rest = bytes
            while rest.count >= 2 {
                let first = Int(rest[rest.startIndex + 1])
                let count = first < 0x80 ? 0 : first & 0x7F
                let header = rest.dropFirst(2).prefix(count)
                let length = first < 0x80 ? first : header.reduce(0) { $0 << 8 | Int($1) }
                parts.append(rest.prefix(2 + count + length))
                rest = rest.dropFirst(2 + count + length)
            }
            return parts
        }
        func inside(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let first = Int(part[part.startIndex + 1])
            return part.dropFirst(first < 0x80 ? 2 : 2 + first & 0x7F)
        }
        let fields = parts(inside(parts(inside(certificate.der[...]))[0]))
        return DER.sequence([Array(fields[3]), Array(fields[1])])
    }

    func bytes() throws -> [UInt8] {
        let all = DER.join(attributes)
        let signed = attributes.isEmpty ? manifest : DER.value(0x31, all)
        var signature = try signer.1.signature(of: signed)
        spoil(&signature)
        let one = DER.sequence(
            [DER.integer(version), signerIdentifier, DER.sequence([Self.object(digestAlgorithm)])]
                + (attributes.isEmpty ? [] : [DER.value(0xA0, all)])
                + [DER.sequence([Self.object(signatureAlgorithm), DER.null]), DER.octetString(signature)]
                + (unsignedAttributes.isEmpty ? [] : [DER.value(0xA1, DER.join(unsignedAttributes))])
        )
        let embedded = DER.join(certificates.map(\.der) + [furtherCertificate])
        let encapsulated =
            [Self.object(contentType)] + (content.map { [DER.value(0xA0, DER.octetString($0))] } ?? [])
        let parts =
            [
                DER.value(0x02, dataVersion), DER.value(0x31, DER.sequence([Self.object(digestAlgorithm)])),
                DER.sequence(encapsulated),
            ]
            + (embedded.isEmpty ? [] : [DER.value(0xA0, embedded)])
            + (revocationLists.isEmpty ? [] : [DER.value(0xA1, revocationLists)])
            + [DER.value(0x31, DER.join(Array(repeating: one, count: signers)))]
        let signedData = isStreamed ? [0x30, 0x80] + DER.join(parts) + [0, 0] : DER.sequence(parts)
        return DER.sequence([Self.object("1.2.840.113549.1.7.2"), DER.value(0xA0, signedData)])
    }
}
