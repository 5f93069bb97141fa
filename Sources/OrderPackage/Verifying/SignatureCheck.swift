// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel

/// Checks the signature's form, and that it is one over the manifest. Whether its certificate may be trusted is
/// ``ChainCheck``'s matter.
struct SignatureCheck {
    private(set) var list = FindingList()
    /// What the signature says, when it can be read.
    private(set) var data: CMSSignedData?
    /// The certificate that the signature names, when it is at hand, whether or not the signature is right.
    private(set) var signer: Certificate?
    private var hasFormErrors = false

    static let path = "signature"
    /// An honest one has 3 to 4 KB; bounds the number of certificates that are read and compared.
    static let sizeLimit = 65_536
    /// RSA with PKCS#1 v1.5, by itself and with SHA-256, SHA-384 and SHA-512.
    private static let rsaAlgorithms = Set(["1.2.840.113549.1.1.1"]).union(digests.keys)
    /// The digests that RSA's algorithms name.
    private static let digests = [
        "1.2.840.113549.1.1.11": "2.16.840.1.101.3.4.2.1", "1.2.840.113549.1.1.12": "2.16.840.1.101.3.4.2.2",
        "1.2.840.113549.1.1.13": "2.16.840.1.101.3.4.2.3",
    ]
    /// SHA-384 and SHA-512.
    private static let longerDigests: Set = ["2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3"]
    private static let withDER = "Write the signature in DER: openssl cms -sign -binary -outform DER."

    /// - Parameter others: certificates to look through for the signer's, besides the embedded ones.
    init(_ archive: ArchiveCheck, others: [Certificate], memory: ChainMemory) {
        guard archive.has(Self.path) else {
            list.error(
                "signature-missing",
                Self.path,
                "The package has no signature.",
                fix: "Sign manifest.json: CMS, detached, DER, in a file named signature."
            )
            return
        }
        guard let bytes = archive.contents(Self.path), hasSignatureForm(bytes) else { return }
        let manifest = archive.contents(Manifest.path)
        let outcome: Result<Certificate, CryptographyError>
        do throws(CryptographyError) {
            let read = try CMS.read(
                bytes,
                content: manifest ?? [],
                certificates: others,
                certificate: memory.certificate(der:)
            )
            data = read.data
            outcome = read.signer
        } catch {
            list.error("signature-not-der", Self.path, ArchiveCheck.sentence(error.message), fix: Self.withDER)
            return
        }
        checkCertificates()
        checkForm()
        hasFormErrors = list.findings.contains(where: \.isError)
        checkSigner(others)
        // Without its manifest, which is said elsewhere, a signature is over nothing.
        if let manifest { checkOutcome(outcome, manifest) }
    }

    /// When the signature says it was made, in seconds since 1970.
    var signingTime: Int64? { data?.signers.first?.signingTime }

    /// Tells what often lies in the place of a signature.
    private mutating func hasSignatureForm(_ bytes: [UInt8]) -> Bool {
        if bytes.isEmpty {
            list.error(
                "signature-empty",
                Self.path,
                "The signature is empty: signing failed unseen.",
                fix: "Look at what the signing step printed, and build the package anew."
            )
            return false
        }
        if bytes.count > Self.sizeLimit {
            list.error(
                "signature-too-large",
                Self.path,
                "The signature has \(bytes.count) bytes; one over a manifest, with two certificates, has about 3,000.",
                fix: "Embed the signing certificate and its intermediate only, and not the content."
            )
            return false
        }
        if bytes[0] == 0x30 { return true }
        let text = String(decoding: bytes.prefix(4_096).map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
        if text.beginsExactly(with: "mime-version:") || text.containsExactly("content-type:") {
            list.error(
                "signature-mime",
                Self.path,
                "The signature is not DER: it is an S/MIME mail.",
                fix: Self.withDER
            )
        } else if text.containsExactly("-----begin") {
            list.error("signature-pem", Self.path, "The signature is not DER: it is PEM text.", fix: Self.withDER)
        } else if [256, 384, 512].contains(bytes.count) {
            list.error(
                "signature-bare",
                Self.path,
                "The signature is not DER: it looks like an RSA signature (PKCS#1) without its CMS envelope.",
                fix: "Sign with openssl cms, not with openssl dgst or rsautl."
            )
        } else {
            list.error(
                "signature-not-der",
                Self.path,
                "The signature is not DER: it does not begin with 0x30.",
                fix: Self.withDER
            )
        }
        return false
    }

    // MARK: Form

    private mutating func checkCertificates() {
        guard let data else { return }
        let count = data.certificates.count + data.unreadableCertificates.count
        for certificate in data.unreadableCertificates {
            list.error(
                "signature-certificate-unreadable",
                Self.path,
                "Certificate \(certificate.number) of \(count) in the signature can't be read: \(certificate.reason).",
                fix: "Embed the signing certificate and its intermediate, each in DER as Apple gives it."
            )
        }
    }

    private mutating func checkForm() {
        guard let data else { return }
        if !data.isDetached {
            list.error(
                "signature-not-detached",
                Self.path,
                "The signature contains the manifest; it must be detached.",
                fix: "Sign with the detached option (openssl cms -sign without -nodetach)."
            )
        }
        if data.contentType != CMS.dataType {
            list.error(
                "signature-content-type",
                Self.path,
                "The signature is over content of type \(data.contentType), not plain data.",
                fix: "Sign the manifest as plain data (\(CMS.dataType))."
            )
        }
        checkEncoding(data.form)
        guard data.signers.count == 1, let signer = data.signers.first else {
            list.error(
                "signature-signers",
                Self.path,
                "The signature has \(data.signers.count) signers; Wallet wants exactly one.",
                fix: "Sign once, with the Order Type ID certificate."
            )
            return
        }
        if !signer.usesSHA256 {
            // Apple's verifier of CMS knows the longer digests, too; that it refuses them here is not known.
            let isLonger = Self.longerDigests.contains(signer.digestAlgorithm)
            list.add(
                isLonger ? .warning : .error,
                "signature-digest-algorithm",
                Self.path,
                "The signature's digest isn't SHA-256 (\(signer.digestAlgorithm))"
                    + (isLonger ? ", as that of every package known to work." : "."),
                fix: "Sign with SHA-256 (-md sha256)."
            )
        }
        if !Self.rsaAlgorithms.contains(signer.signatureAlgorithm) {
            list.error(
                "signature-algorithm",
                Self.path,
                "The signature isn't RSA with PKCS#1 v1.5 (\(signer.signatureAlgorithm)).",
                fix: "Sign with an RSA key, without PSS."
            )
        } else if let digest = Self.digests[signer.signatureAlgorithm], digest != signer.digestAlgorithm {
            list.warning(
                "signature-algorithm",
                Self.path,
                "The signature's algorithm (\(signer.signatureAlgorithm)) names another digest than the signer's"
                    + " (\(signer.digestAlgorithm)); readers differ in which they take.",
                fix: "Name RSA alone (1.2.840.113549.1.1.1), or RSA with the digest that is signed."
            )
        }
        checkAttributes(signer)
        let own = named(in: data.certificates)
        if data.certificates.contains(where: { $0.isSelfIssued && $0 != own }) {
            list.note(
                "signature-root",
                Self.path,
                "The signature embeds a root certificate, which devices don't use.",
                fix: "Embed the signing certificate and its intermediate only."
            )
        }
    }

    private mutating func checkEncoding(_ form: CMSForm) {
        if !form.hasRightIdentifiers {
            list.error(
                "signature-signer-identifier",
                Self.path,
                "The signer's key identifier stands under an explicit tag; strict readers refuse it.",
                fix: "Tag the key identifier implicitly (RFC 5652 5.3), or name the signer by issuer and serial number."
            )
        } else if !form.isDER {
            list.warning(
                "signature-ber",
                Self.path,
                "The signature is BER, not DER: it has lengths or strings that strict readers refuse.",
                fix: "Write it without streaming (openssl cms -sign without -stream), with -outform DER."
            )
        }
        if !form.hasRightVersions {
            list.warning(
                "signature-version",
                Self.path,
                "A version in the signature isn't the one that belongs to how the signer's certificate is named.",
                fix: "Write version 3 for a key identifier, 1 for issuer and serial number (RFC 5652 5.1 and 5.3)."
            )
        }
        if !form.hasSortedAttributes {
            list.warning(
                "signature-attribute-order",
                Self.path,
                "The signed attributes aren't in DER's order, so readers differ in what was signed.",
                fix: "Sort the attributes by their encoded bytes before signing."
            )
        }
        if form.hasRevocationLists {
            list.note(
                "signature-revocation-list",
                Self.path,
                "The signature carries revocation lists, which devices don't use.",
                fix: "Leave them out."
            )
        }
    }

    private mutating func checkAttributes(_ signer: CMSSignedData.Signer) {
        let known = [CMS.contentTypeAttribute, CMS.messageDigestAttribute, CMS.signingTimeAttribute]
        let attributes = signer.signedAttributes
        guard !attributes.isEmpty else {
            list.error(
                "signature-without-attributes",
                Self.path,
                "The signature has no signed attributes, and so no signing time.",
                fix: "Sign with attributes (openssl cms -sign without -noattr)."
            )
            return
        }
        for (oid, name) in [(CMS.contentTypeAttribute, "content type"), (CMS.messageDigestAttribute, "message digest")]
        where !attributes.contains(oid) {
            list.error(
                "signature-attribute-missing",
                Self.path,
                "The signature lacks the signed attribute \(name) (\(oid)).",
                fix: "Sign with attributes (openssl cms -sign without -noattr)."
            )
        }
        if attributes.contains(CMS.contentTypeAttribute), signer.contentType != CMS.dataType {
            list.error(
                "signature-content-type",
                Self.path,
                "The content type among the signed attributes is \(signer.contentType ?? "unreadable"), not plain data.",
                fix: "Sign the manifest as plain data (\(CMS.dataType))."
            )
        }
        if Set(attributes).count != attributes.count {
            list.error(
                "signature-attribute-repeated",
                Self.path,
                "A signed attribute is there twice.",
                fix: "Give each signed attribute once."
            )
        }
        for (kind, oids) in [("signed", attributes), ("unsigned", signer.unsignedAttributes)] {
            for oid in oids where kind == "unsigned" || !known.contains(oid) {
                list.note(
                    "signature-attribute",
                    Self.path,
                    "The signature has the further \(kind) attribute \(oid), which devices pass over.",
                    fix: "Leave it out (openssl cms -sign -nosmimecap)."
                )
            }
        }
        checkSigningTime(signer)
    }

    private mutating func checkSigningTime(_ signer: CMSSignedData.Signer) {
        let fix = "Write the second of signing as UTCTime, such as 260131180000Z."
        guard signer.signedAttributes.contains(CMS.signingTimeAttribute) else {
            list.error(
                "signing-time-missing",
                Self.path,
                "The signature has no signing time; the package would end with its certificate.",
                fix: "Sign with the signing time attribute (\(CMS.signingTimeAttribute))."
            )
            return
        }
        guard let time = signer.signingTime else {
            list.error("signing-time-form", Self.path, "The signing time can't be read.", fix: fix)
            return
        }
        // 2050-01-01: before it, CMS demands UTCTime (RFC 5652 11.3).
        if time < 2_524_608_000, !signer.signingTimeIsUTCTime {
            list.warning(
                "signing-time-form",
                Self.path,
                "The signing time is no UTCTime, as it must be before 2050.",
                fix: fix
            )
        } else if !signer.signingTimeIsExact {
            list.warning(
                "signing-time-form",
                Self.path,
                "The signing time isn't written to the second and in UTC, as RFC 5652 11.3 has it.",
                fix: fix
            )
        }
    }

    // MARK: The signature itself

    private mutating func checkSigner(_ others: [Certificate]) {
        guard let data else { return }
        let embedded = named(in: data.certificates)
        signer = embedded ?? named(in: others)
        if data.signers.count == 1, embedded == nil { addMissingSigner() }
    }

    private mutating func checkOutcome(_ outcome: Result<Certificate, CryptographyError>, _ manifest: [UInt8]) {
        guard let data, data.isDetached, data.signers.count == 1 else { return }
        if let first = data.signers.first, first.usesSHA256, let digest = first.messageDigest,
            digest != SHA256.hash(manifest).bytes
        {
            list.error(
                "signature-digest-mismatch",
                Self.path,
                "The manifest isn't the one that was signed.",
                fix:
                    "Sign the very bytes of manifest.json: no change of line ends, no new encoding, no edit afterwards."
            )
            return
        }
        switch outcome {
        case .success(let certificate): signer = certificate
        case .failure(let error):
            guard error.code != .noCertificate else {
                if !list.findings.contains(where: { $0.code == "signer-missing" }) { addMissingSigner() }
                return
            }
            // Most often for the very reason that was told.
            if hasFormErrors { return }
            list.error(
                "signature-invalid",
                Self.path,
                ArchiveCheck.sentence(error.message),
                fix: "Build the package anew; check that key and certificate belong together."
            )
        }
    }

    private mutating func addMissingSigner() {
        // It may be the one that couldn't be read, which is said already.
        if data?.unreadableCertificates.isEmpty == false { return }
        list.error(
            "signer-missing",
            Self.path,
            "The signature doesn't contain the certificate that signed.",
            fix: "Embed the Order Type ID certificate and its intermediate (openssl cms -sign without -nocerts)."
        )
    }

    private func named(in certificates: [Certificate]) -> Certificate? {
        switch data?.signers.first?.identifier {
        case .subjectKeyIdentifier(let identifier): certificates.first { $0.subjectKeyIdentifier == identifier }
        case .issuerAndSerial(let issuer, let serial):
            certificates.first { $0.serialHex == serial && $0.issuerDescription == issuer }
        case nil: nil
        }
    }
}
