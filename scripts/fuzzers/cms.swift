// SPDX-License-Identifier: Apache-2.0

// Fuzzes the reading of signatures and certificates, OpenSSL's part included: scripts/fuzz cms. The keys are new in each
// run, but lie in the same places.
import Cryptography

private struct Fixture {
    let content: [UInt8] = [1, 2, 3]
    let leaf: Certificate
    let signature: [UInt8]

    init() throws {
        let now: Int64 = 1_767_225_600
        let rootKey = try PrivateKey.generateRSA()
        let root = try CertificateTemplate.authority(
            subject: [(.commonName, "Root")],
            notBefore: now - 9,
            notAfter: now + 9
        )
        .issue(for: rootKey, issuer: nil)
        let key = try PrivateKey.generateRSA()
        let template = CertificateTemplate(subject: [(.commonName, "Leaf")], notBefore: now - 9, notAfter: now + 9)
        leaf = try template.issue(for: key, issuer: (root, rootKey))
        signature = try CMS.signDetached(content, signer: leaf, key: key, intermediates: [], signingTime: now)
    }
}

private let fixture = try? Fixture()

/// Reads the input as a signature and as a certificate, or as changes to good ones. A signature that verifies was made
/// by the one key there is, or by one that the input brought along.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCMS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let fixture else { preconditionFailure("no keys") }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    switch (input.first ?? 0) % 3 {
    case 0: readSignature(Edits.apply(input.dropFirst(), to: fixture.signature), fixture)
    case 1: readCertificate(Edits.apply(input.dropFirst(), to: fixture.leaf.der))
    default:
        readSignature(Array(input.dropFirst()), fixture)
        readCertificate(Array(input.dropFirst()))
    }
    return 0
}

private func readSignature(_ bytes: [UInt8], _ fixture: Fixture) {
    _ = CMSForm(bytes)
    if let data = try? CMS.parse(bytes) {
        for certificate in data.certificates { describe(certificate) }
        for signer in data.signers {
            precondition(signer.messageDigest?.count ?? 0 <= bytes.count, "a digest too long")
        }
    }
    if let signer = try? CMS.verifyDetached(bytes, content: fixture.content), bytes == fixture.signature {
        precondition(signer == fixture.leaf, "another signer")
    }
    precondition((try? CMS.verifyDetached(bytes, content: [9])) == nil, "content that nobody signed")
    for content in [fixture.content, [9]] {
        let short = told(bytes, content, fixture, takesShortcut: true)
        precondition(short == told(bytes, content, fixture, takesShortcut: false), "the short way tells something else")
    }
}

/// Everything that a reading tells, so that the short way can be held against OpenSSL's.
private func told(_ bytes: [UInt8], _ content: [UInt8], _ fixture: Fixture, takesShortcut: Bool) -> String {
    do {
        let (data, signer) = try CMS.read(
            bytes,
            content: content,
            certificates: [fixture.leaf],
            takesShortcut: takesShortcut
        ) { (der) throws(CryptographyError) in try Certificate(der: der) }
        let outcome: String
        switch signer {
        case .success(let certificate): outcome = certificate.fingerprint.hex
        case .failure(let error): outcome = "\(error.code) \(error.message)"
        }
        return "\(data.certificates.map(\.fingerprint)) \(data.signers) \(data.contentType) \(data.isDetached)"
            + " \(data.form) \(outcome)"
    } catch {
        return "\(error)"
    }
}

private func readCertificate(_ bytes: [UInt8]) {
    guard let certificate = try? Certificate(der: bytes) else { return }
    precondition(!certificate.der.isEmpty, "a certificate without bytes")
    describe(certificate)
}

private func describe(_ certificate: Certificate) {
    _ = (certificate.subjectDescription, certificate.issuerDescription, certificate.serialHex)
    _ = (certificate.notBefore, certificate.notAfter, certificate.keyBits, certificate.isRSA)
    _ = (certificate.extendedKeyUsage, certificate.keyUsageDigitalSignature, certificate.signatureUsesSHA1)
    _ = (certificate.extensionString("1.2.840.113635.100.14.2"), certificate.subject(.userID))
    _ = (certificate.isSigned(by: certificate), certificate.pem())
}
