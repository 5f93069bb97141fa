// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension PrivateKey {
    private static let labels: Set<String> = [
        "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY",
    ]

    /// Reads the first private key of a PEM text: PKCS#8 or the older forms, encrypted or not.
    ///
    /// Each way this goes wrong has its own code, because "invalid PEM" for all of them costs people days.
    /// - Parameter passphrase: ignored when the key isn't encrypted.
    /// - Throws: `notPEM`, `noPrivateKey`, `passphraseNeeded`, `wrongPassphrase`, `unsupportedAlgorithm`.
    public convenience init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(CryptographyError) {
        let labels = PEMText.labels(in: pem)
        guard labels.contains(where: Self.labels.contains) else {
            throw CryptographyError(
                labels.isEmpty ? .notPEM : .noPrivateKey,
                "no private key here: \(PEMText.describe(pem)); a key starts with -----BEGIN PRIVATE KEY-----"
            )
        }
        let secret = Passphrase(passphrase)
        guard secret.isUsable else {
            throw CryptographyError(.wrongPassphrase, "the passphrase is too long, or holds a zero byte")
        }
        OpenSSLFailures.clear()
        let key = unsafe withReadBuffer(pem, from: PEMText.markLength(pem)) { bio in
            unsafe secret.withContext { unsafe PEM_read_bio_PrivateKey(bio, nil, Passphrase.callback, $0) }
        }
        guard let key = unsafe key else {
            let failures = OpenSSLFailures.drain()
            if let fault = PEMText.lineFault(in: pem) {
                throw failures.error(.notPEM, "no private key here that can be read: \(fault)")
            }
            throw Self.fault(failures, asked: secret.wasAsked, given: passphrase != nil)
        }
        unsafe self.init(takingOwnership: key)
        OpenSSLFailures.clear()
    }

    /// Reads all private keys of a PEM text, such as `openssl pkcs12 -nodes` writes of several identities; none where it has
    /// none.
    ///
    /// - Parameter passphrase: opens those that are encrypted.
    /// - Throws: as ``init(pem:passphrase:)``, where no key can be read: another's key beside one's own does no harm.
    package static func all(pem: [UInt8], passphrase: [UInt8]? = nil) throws(CryptographyError) -> [PrivateKey] {
        var keys: [PrivateKey] = []
        var fault: CryptographyError?
        for range in PEMText.blocks(in: pem, labels: labels) {
            var block = Array(pem[range])
            defer { block.wipe() }
            do throws(CryptographyError) {
                keys.append(try PrivateKey(pem: block, passphrase: passphrase))
            } catch {
                fault = fault ?? error
            }
        }
        if let fault, keys.isEmpty { throw fault }
        return keys
    }

    private static func fault(_ failures: OpenSSLFailures, asked: Bool, given: Bool) -> CryptographyError {
        if asked && !given {
            return CryptographyError(.passphraseNeeded, "the private key is encrypted: give its passphrase")
        }
        if asked && failures.nameUnsupportedAlgorithm
            && !failures.contain(library: ERR_LIB_EVP, reason: EVP_R_BAD_DECRYPT)
            && !failures.contain(library: ERR_LIB_PROV, reason: badDecrypt)
            // One wrong passphrase in 256 decrypts to good padding, and then to nonsense instead of a key.
            && !failures.contain(library: ERR_LIB_ASN1)
        {
            return failures.error(
                .unsupportedAlgorithm,
                "the private key is encrypted in a way that OpenSSL no longer reads; convert it with"
                    + " openssl pkcs8 -topk8 -provider legacy -provider default"
            )
        }
        if asked {
            return failures.error(.wrongPassphrase, "the passphrase does not open the private key")
        }
        return failures.error(.notPEM, "the private key's PEM text is damaged, or its kind is unknown")
    }

    // PROV_R_BAD_DECRYPT; the provider's reasons have no public header in every release.
    private static let badDecrypt: Int32 = 100

    /// Reads a private key in DER: PKCS#8, encrypted or not, PKCS#1 or SEC 1.
    /// - Parameter passphrase: ignored when the key isn't encrypted.
    /// - Throws: `notDER`; `passphraseNeeded`, `wrongPassphrase`, `unsupportedAlgorithm`.
    public convenience init(der: [UInt8], passphrase: [UInt8]? = nil) throws(CryptographyError) {
        let secret = Passphrase(passphrase)
        guard secret.isUsable else {
            throw CryptographyError(.wrongPassphrase, "the passphrase is too long, or holds a zero byte")
        }
        OpenSSLFailures.clear()
        var key = unsafe decodeDER(der) { cursor, length in
            unsafe d2i_AutoPrivateKey(nil, cursor, length)
        } free: {
            unsafe EVP_PKEY_free($0)
        }
        if unsafe key == nil {
            OpenSSLFailures.clear()
            unsafe key = withReadBuffer(der) { bio in
                unsafe secret.withContext { unsafe d2i_PKCS8PrivateKey_bio(bio, nil, Passphrase.callback, $0) }
            }
        }
        guard let key = unsafe key else {
            let failures = OpenSSLFailures.drain()
            if secret.wasAsked { throw Self.fault(failures, asked: true, given: passphrase != nil) }
            throw failures.error(.notDER, "no private key in DER here: \(PEMText.describe(der))")
        }
        unsafe self.init(takingOwnership: key)
        OpenSSLFailures.clear()
    }

    /// The key as unencrypted PKCS#8 PEM. The caller keeps it secret.
    public func pem() -> [UInt8] {
        let buffer = MemoryBuffer()
        let done = unsafe buffer.withBIO { bio in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil)
        }
        precondition(done == 1, "a key that OpenSSL holds can be written")
        return buffer.contents()
    }

    /// The key as PKCS#8 PEM, encrypted with AES-256 under a passphrase.
    /// - Throws: `invalidInput` for an unusable passphrase.
    package func pem(encryptedWith passphrase: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let secret = Passphrase(passphrase)
        guard secret.isUsable, !passphrase.isEmpty else {
            throw CryptographyError(.invalidInput, "a passphrase has 1 to 1,023 bytes, none of them zero")
        }
        OpenSSLFailures.clear()
        let buffer = MemoryBuffer()
        let done = unsafe buffer.withBIO { bio in
            unsafe secret.withCString { text, length in
                unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, EVP_aes_256_cbc(), text, length, nil, nil)
            }
        }
        guard done == 1 else { throw OpenSSLFailures.drain().error(.failed, "the key could not be encrypted") }
        return buffer.contents()
    }
}
