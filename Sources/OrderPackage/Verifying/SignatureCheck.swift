// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel

/// Checks the signature's form, and that it is one over the manifest. Whether its certificate may be trusted is
/// ``ChainCheck``'s matter.
struct SignatureCheck {
    private(set) var list = FindingList()
    /// What the signature says, when it can be read.
    private(set) var data: CMSSignedData?
    /// The certificate that the signature names, when it is at hand, whether or not the signature is right.
    private(set) var signer: Certificate?

    static let path = "signature"
    private static let rsaAlgorithms: Set = ["1.2.840.113549.1.1.1", "1.2.840.113549.1.1.11"]

    /// - Parameter others: certificates to look through for the signer's, besides the embedded ones.
    init(_ archive: ArchiveCheck, others: [Certificate]) {
        guard archive.paths.contains(Self.path) else {
            list.error(
                "signature-missing",
                Self.path,
                "The package has no signature.",
                fix: "Sign manifest.json: CMS, detached, DER, in a file named signature."
            )
            return
        }
        guard let bytes = archive.contents[Self.path] else { return }
        guard !bytes.isEmpty else {
            list.error(
                "signature-empty",
                Self.path,
                "The signature is empty: signing failed unseen.",
                fix: "Look at what the signing step printed, and build the package anew."
            )
            return
        }
        do throws(CryptographyError) {
            data = try CMS.parse(bytes)
        } catch {
            list.error(
                "signature-not-der",
                Self.path,
                ArchiveCheck.sentence(error.message),
                fix: "Write the signature in DER (openssl cms -sign -binary -outform DER), without mail headers."
            )
            return
        }
        checkForm()
        verify(bytes, archive.contents[Manifest.path], others)
    }

    /// When the signature says it was made, in seconds since 1970.
    var signingTime: Int64? { data?.signers.first?.signingTime }

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
                "The signature is over content of type \(data.contentType)."
            )
        }
        guard data.signers.count == 1, let signer = data.signers.first else {
            list.error(
                "signature-signers",
                Self.path,
                "The signature has \(data.signers.count) signers; Wallet wants exactly one."
            )
            return
        }
        if !signer.usesSHA256 {
            list.error(
                "signature-digest-algorithm",
                Self.path,
                "The signature's digest isn't SHA-256 (\(signer.digestAlgorithm)).",
                fix: "Sign with SHA-256."
            )
        }
        if !Self.rsaAlgorithms.contains(signer.signatureAlgorithm) {
            list.error(
                "signature-algorithm",
                Self.path,
                "The signature isn't RSA with PKCS#1 v1.5 (\(signer.signatureAlgorithm)).",
                fix: "Sign with an RSA key, without PSS."
            )
        }
        checkAttributes(signer)
        let roots = data.certificates.filter(\.isSelfIssued)
        if !roots.isEmpty {
            list.note("signature-root", Self.path, "The signature embeds a root certificate, which devices don't use.")
        }
    }

    private mutating func checkAttributes(_ signer: CMSSignedData.Signer) {
        let wanted = [
            (CMS.contentTypeAttribute, "content type"), (CMS.messageDigestAttribute, "message digest"),
            (CMS.signingTimeAttribute, "signing time"),
        ]
        for (oid, name) in wanted where !signer.signedAttributes.contains(oid) {
            list.error(
                "signature-attribute-missing",
                Self.path,
                "The signature lacks the signed attribute \(name) (\(oid)).",
                fix: "Sign with attributes (openssl cms -sign without -noattr)."
            )
        }
        for oid in signer.signedAttributes where !wanted.contains(where: { $0.0 == oid }) {
            list.note("signature-attribute", Self.path, "The signature has the further signed attribute \(oid).")
        }
        for oid in signer.unsignedAttributes {
            list.note("signature-attribute", Self.path, "The signature has the unsigned attribute \(oid).")
        }
        guard signer.signedAttributes.contains(CMS.signingTimeAttribute) else { return }
        // 2050-01-01: before it, CMS demands UTCTime (RFC 5652 11.3).
        guard let time = signer.signingTime else {
            list.error("signing-time-form", Self.path, "The signing time can't be read.")
            return
        }
        if time < 2_524_608_000, !signer.signingTimeIsUTCTime {
            list.warning("signing-time-form", Self.path, "The signing time is no UTCTime, as it must be before 2050.")
        }
    }

    private mutating func verify(_ signature: [UInt8], _ manifest: [UInt8]?, _ others: [Certificate]) {
        guard let data else { return }
        signer = named(in: data.certificates) ?? named(in: others)
        guard let manifest, data.isDetached, data.signers.count == 1 else { return }
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
        do throws(CryptographyError) {
            signer = try CMS.verifyDetached(signature, content: manifest, certificates: others)
        } catch {
            if error.code == .noCertificate {
                list.error(
                    "signer-missing",
                    Self.path,
                    "The signature doesn't contain the certificate that signed.",
                    fix: "Embed the Order Type ID certificate and its intermediate."
                )
            } else {
                list.error(
                    "signature-invalid",
                    Self.path,
                    ArchiveCheck.sentence(error.message),
                    fix: "Build the package anew; check that key and certificate belong together."
                )
            }
        }
        if signer.map({ !data.certificates.contains($0) }) == true {
            list.error(
                "signer-missing",
                Self.path,
                "The signature doesn't contain the certificate that signed.",
                fix: "Embed the Order Type ID certificate and its intermediate."
            )
        }
    }

    private func named(in certificates: [Certificate]) -> Certificate? {
        switch data?.signers.first?.identifier {
        case .subjectKeyIdentifier(let identifier): certificates.first { $0.subjectKeyIdentifier == identifier }
        case .issuerAndSerial(_, let serial): certificates.first { $0.serialHex == serial && !$0.isCA }
        case nil: nil
        }
    }
}
