// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension PKCS12 {
    /// Reads all certificates and keys of a file.
    ///
    /// - Throws: `notPKCS12`, `passphraseNeeded`, `wrongPassphrase`, `unsupportedAlgorithm`, `legacyProviderMissing`,
    ///   `invalidInput` for a file without checksum.
    package static func read(_ bytes: [UInt8], passphrase: [UInt8]) throws(CryptographyError) -> PKCS12Contents {
        let secret = Passphrase(passphrase)
        guard secret.isUsable else {
            throw CryptographyError(.wrongPassphrase, "the passphrase is too long, or holds a zero byte")
        }
        do throws(CryptographyError) {
            return try unsafe read(bytes, secret, library: nil)
        } catch  where error.code == .unsupportedAlgorithm {
            let library = try LegacyLibrary()
            return try unsafe library.withContext { context throws(CryptographyError) in
                try unsafe read(bytes, secret, library: context)
            }
        }
    }

    private static func read(
        _ bytes: [UInt8],
        _ secret: Passphrase,
        library: OpaquePointer?
    ) throws(CryptographyError) -> PKCS12Contents {
        OpenSSLFailures.clear()
        let file = unsafe decodeDER(bytes) { cursor, length in
            // Starting from an object of the library context keeps the reader inside that context.
            var file = unsafe PKCS12_init_ex(NID_pkcs7_data, library, nil)
            let read = unsafe d2i_PKCS12(&file, cursor, length)
            return unsafe read
        } free: {
            unsafe PKCS12_free($0)
        }
        guard let file = unsafe file else {
            throw OpenSSLFailures.drain().error(.notPKCS12, "no PKCS#12 file here: \(describe(bytes))")
        }
        defer { unsafe PKCS12_free(file) }
        try unsafe checkPassphrase(file, secret)
        // OpenSSL 3.0 looks for the ciphers of a key's bag in the thread's own library context, whatever the file's is.
        // What is made meanwhile is copied out below, when the thread is back in the context it had.
        let former = unsafe library.flatMap { unsafe OSSL_LIB_CTX_set0_default($0) }
        let bags = unsafe secret.withCString { text, length in
            // An empty passphrase has two encodings, and both are in use.
            let isAbsent = unsafe length == 0 && PKCS12_verify_mac(file, nil, 0) == 1
            return unsafe PKCS12Bags(file, isAbsent ? nil : text, length)
        }
        if let former = unsafe former { unsafe OSSL_LIB_CTX_set0_default(former) }
        guard bags.areWhole else {
            let failures = OpenSSLFailures.drain()
            throw failures.nameUnsupportedAlgorithm
                ? failures.error(.unsupportedAlgorithm, "the file's encryption is one that OpenSSL doesn't read")
                : failures.error(.wrongPassphrase, "the passphrase does not open the file, or the file is damaged")
        }
        OpenSSLFailures.clear()
        var contents = PKCS12Contents(usedLegacyAlgorithms: unsafe library != nil)
        for index in unsafe bags.certificates.indices {
            contents.certificates.append(try unsafe copy(bags.certificates[index]))
        }
        for index in unsafe bags.keys.indices { contents.keys.append(try unsafe copy(key: bags.keys[index])) }
        return contents
    }

    private static func checkPassphrase(_ file: OpaquePointer, _ secret: Passphrase) throws(CryptographyError) {
        guard unsafe PKCS12_mac_present(file) == 1 else {
            throw CryptographyError(
                .invalidInput,
                "the file has no checksum, so nobody can tell who wrote it; export it with a passphrase"
            )
        }
        // An empty passphrase has two encodings, and both are in use.
        let isEmpty = unsafe secret.withCString { _, length in length == 0 }
        let fits = unsafe secret.withCString { text, length in
            unsafe PKCS12_verify_mac(file, text, length) == 1
                || (length == 0 && PKCS12_verify_mac(file, nil, 0) == 1)
        }
        guard !fits else { return OpenSSLFailures.clear() }
        let failures = OpenSSLFailures.drain()
        if failures.nameUnsupportedAlgorithm {
            throw failures.error(.unsupportedAlgorithm, "the file's checksum is one that OpenSSL doesn't know")
        }
        throw isEmpty
            ? CryptographyError(.passphraseNeeded, "the file is protected: give its passphrase")
            : failures.error(.wrongPassphrase, "wrong passphrase: it does not open the file")
    }

    /// A certificate of the default library context: the one it came from goes away with the import.
    private static func copy(_ pointer: OpaquePointer) throws(CryptographyError) -> Certificate {
        try Certificate(der: unsafe encodeDER { unsafe i2d_X509(pointer, $0) } ?? [])
    }

    private static func copy(key pointer: OpaquePointer) throws(CryptographyError) -> PrivateKey {
        guard var der = unsafe encodeDER({ unsafe i2d_PrivateKey(pointer, $0) }) else {
            throw OpenSSLFailures.drain().error(.unsupportedAlgorithm, "the private key's kind is unknown")
        }
        defer { der.wipe() }
        return try PrivateKey(der: der)
    }

    private static func describe(_ bytes: [UInt8]) -> String {
        bytes.first == 0x30 ? "the bytes are some other DER, or damaged" : PEMText.describe(bytes)
    }
}
