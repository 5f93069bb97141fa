// SPDX-License-Identifier: Apache-2.0

/// What each code means that this module gives out about packages, folders and identities; the codes about the document
/// itself are in `FindingCatalogue` of OrderModel.
public enum PackageFindings {
    /// A code and its meaning in one line.
    public struct Entry: Sendable, Hashable {
        /// The code in kebab-case.
        public let code: String
        /// What it means.
        public let meaning: String
    }

    /// The meaning of a code that a check of this module gives out.
    public static func meaning(of code: String) -> String? { entries.first { $0.code == code }?.meaning }

    /// All codes of this module, in alphabetical order.
    public static let entries: [Entry] = (package + zip).map { Entry(code: $0.0, meaning: $0.1) }
        .sorted { $0.code < $1.code }

    private static let package = [
        ("byte-order-mark", "A byte order mark stands in front of order.json or manifest.json."),
        ("certificate-expired", "A certificate of the chain had expired at the signing time."),
        ("certificate-extension-repeated", "A certificate of the chain has an extension more than once."),
        ("certificate-key-usage", "The certificate's key usage lacks digital signature."),
        ("certificate-kind", "The certificate is no Order Type ID certificate (it lacks 1.2.840.113635.100.14.2)."),
        ("certificate-not-rsa", "The certificate's key is not RSA."),
        ("certificate-not-yet-valid", "A certificate of the chain was not yet valid at the signing time."),
        ("certificate-self-signed", "The certificate is signed by itself."),
        ("certificate-subject", "The certificate's subject names another order type than its extension."),
        ("certificate-unneeded", "The signature embeds a certificate that is no part of the chain."),
        ("certificate-usage", "The certificate lacks the extended key usage 1.2.840.113635.100.4.19."),
        ("certificate-weak-key", "A key of the chain is too short."),
        ("certificate-weak-signature", "A certificate of the chain is signed with SHA-1 or MD5."),
        ("chain-broken", "The issuer that the certificate names did not sign it."),
        ("chain-incomplete", "The certificate's issuer is neither embedded nor known."),
        ("chain-length", "The chain does not have exactly three certificates."),
        ("chain-refused", "OpenSSL refuses the chain for the reason given."),
        ("chain-untrusted", "The chain does not end at a trusted root."),
        ("empty-file", "A file is empty; devices pass over it."),
        ("enclosing-folder", "The package's files lie in a folder instead of at the top level."),
        ("file-format", "A file is not of a kind that Wallet shows in its place."),
        ("hash-mismatch", "A file is not the one that the manifest lists."),
        ("identity-ending", "A certificate of the chain ends within thirty days."),
        ("identity-legacy-ciphers", "A PKCS#12 file uses outdated ciphers."),
        ("identity-passed-over", "A file in a folder of identities is no part of one."),
        ("image-apple-only", "An image is a PNG as Xcode writes it for iOS, which other systems can't show."),
        ("image-damaged", "An image's headers can't be read, so that nobody can show it."),
        ("image-size", "An image is not square, or smaller or larger than Apple recommends."),
        ("image-transparent", "An image may have transparent pixels."),
        ("intermediate-marker", "The intermediate lacks 1.2.840.113635.100.6.2.1."),
        ("intermediate-missing", "The signature does not embed the certificate's issuer."),
        ("intermediate-not-authority", "The issuer may not issue certificates."),
        ("intermediate-wrong", "The signature embeds an intermediate that is not the issuer, or out of date."),
        ("locale-name", "A localization folder's name is no language."),
        ("manifest-digest-case", "A digest has upper-case digits."),
        ("manifest-digest-form", "A digest is not 64 hexadecimal digits."),
        ("manifest-entry-missing", "A file of the package is not in the manifest."),
        ("manifest-file-missing", "The manifest lists a file that is not in the package."),
        ("manifest-form", "The manifest is no object of paths and digests."),
        ("manifest-lists-itself", "The manifest lists itself or the signature."),
        ("manifest-missing", "The package has no manifest.json."),
        ("manifest-sha1", "A digest is SHA-1, as in passes; orders take SHA-256."),
        ("manifest-syntax", "The manifest is no JSON; line and column say where."),
        ("manifest-too-large", "The manifest has more bytes, levels or values than are read."),
        ("more-findings", "A code was found more than 100 times in one severity; the rest is left out."),
        ("not-a-file", "A link, a pipe or a device lies in a folder."),
        ("not-signed", "The package could not be built or signed, for the reason given."),
        ("order-missing", "The package has no order.json."),
        ("order-type-mismatch", "The order is of another type than the certificate."),
        ("package-empty", "The package holds no files."),
        ("package-too-large", "The package does not stay below 5 MB."),
        ("reserved-name", "A file has a name that the package gives a file of its own, or the same in other case."),
        ("signature-algorithm", "The signature is not RSA with PKCS#1 v1.5, or over another digest."),
        ("signature-attribute", "The signature has a further attribute."),
        ("signature-attribute-missing", "The signature lacks content type or message digest."),
        ("signature-attribute-order", "The signed attributes are not in DER's order."),
        ("signature-attribute-repeated", "A signed attribute is there twice."),
        ("signature-bare", "The signature is PKCS#1 without a CMS envelope."),
        ("signature-ber", "The signature is BER, not DER."),
        ("signature-certificate-unreadable", "A certificate in the signature can't be read."),
        ("signature-content-type", "The signature is not over plain data."),
        ("signature-digest-algorithm", "The signature's digest is not SHA-256."),
        ("signature-digest-mismatch", "The manifest is not the one that was signed."),
        ("signature-empty", "The signature has no bytes."),
        ("signature-invalid", "The signature is not the certificate's over this manifest."),
        ("signature-mime", "The signature is an S/MIME mail."),
        ("signature-missing", "The package has no signature."),
        ("signature-not-der", "The signature is no CMS in DER."),
        ("signature-not-detached", "The signature contains what it signs."),
        ("signature-pem", "The signature is PEM text."),
        ("signature-revocation-list", "The signature carries revocation lists."),
        ("signature-root", "The signature embeds a root certificate."),
        ("signature-signer-identifier", "The signer's key identifier is tagged explicitly."),
        ("signature-signers", "The signature does not have exactly one signer."),
        ("signature-too-large", "The signature is too large to be one over a manifest."),
        ("signature-version", "A version does not fit how the signer's certificate is named."),
        ("signature-without-attributes", "The signature has no signed attributes."),
        ("signer-missing", "The signature does not contain the certificate that signed."),
        ("signing-time-form", "The signing time is unreadable, or not written as CMS has it."),
        ("signing-time-future", "The signing time lies in the future."),
        ("signing-time-missing", "The signature has no signing time."),
        ("stray-file", "A file is a leftover of a system or an editor."),
        ("strings-missing", "A localization folder has no order.strings."),
        ("strings-too-many", "The localization folders have more texts than are read."),
        ("unpacked-too-large", "The files have 5 MB or more when unpacked."),
    ]

    private static let zip = [
        ("zip-alternate-name", "An entry has a second name in an extra field."),
        ("zip-bad-checksum", "A file's data does not have the recorded CRC-32."),
        ("zip-bad-data", "A file's compressed data can't be unpacked."),
        ("zip-bad-name", "An entry's name is not UTF-8."),
        ("zip-comment", "The archive or an entry has a comment."),
        ("zip-data-descriptor", "An entry's sizes follow its data."),
        ("zip-directory-order", "The directory has another order than the entries."),
        ("zip-duplicate-name", "Two entries have one name."),
        ("zip-encrypted", "An entry is encrypted."),
        ("zip-folder", "The archive has an entry for a folder."),
        ("zip-gap", "Bytes between the entries belong to none."),
        ("zip-header-detail", "A local header differs from the directory in time or version."),
        ("zip-header-mismatch", "A local header or data descriptor contradicts the directory."),
        ("zip-hidden-entry", "An entry is not in the directory."),
        ("zip-malformed", "A record of the archive can't be read, or counts contradict each other."),
        ("zip-multiple-disks", "The archive is one part of several."),
        ("zip-name-encoding", "A name is not ASCII and not flagged as UTF-8."),
        ("zip-not-an-archive", "The file is no zip archive."),
        ("zip-overlap", "Two entries share bytes."),
        ("zip-ratio", "An entry unpacks to far more than it holds."),
        ("zip-similar-names", "Two names differ only in case or Unicode form."),
        ("zip-special-file", "An entry is neither a file nor a folder."),
        ("zip-symlink", "An entry is a symbolic link."),
        ("zip-too-large", "The archive, or what it unpacks to, is too large to be read."),
        ("zip-too-many-entries", "There are more files than a package may have."),
        ("zip-trailing-bytes", "Bytes follow the archive's end."),
        ("zip-truncated", "The archive ends before its records do."),
        (
            "zip-unsafe-path",
            "A name leaves the package, is read differently by systems, or is a file's where a folder belongs."
        ),
        ("zip-unsupported-method", "An entry is neither stored nor deflated."),
        ("zip-zip64", "The archive has 64-bit records."),
    ]
}
