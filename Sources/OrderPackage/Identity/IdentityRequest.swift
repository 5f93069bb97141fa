// SPDX-License-Identifier: Apache-2.0

public import Cryptography
import ServiceRuntime

/// A new key and the request for its certificate, as Apple's developer portal takes it.
///
/// Apple puts the order type and the team into the certificate itself; of the request only the key counts.
public struct IdentityRequest: Sendable {
    /// The new RSA key of 2,048 bits.
    package let key: PrivateKey
    /// The request (PKCS#10) in PEM, for the portal.
    public let request: [UInt8]

    /// Makes a key and its request.
    ///
    /// - Parameters:
    ///   - commonName: what Keychain Access would call the key.
    ///   - organization: the company; nil leaves it out.
    ///   - country: two letters; nil leaves it out.
    /// - Throws: `badRequest` for a value that the subject can't hold.
    public init(
        commonName: String,
        organization: String? = nil,
        country: String? = nil
    ) throws(OrderPackageError) {
        var subject: [(field: NameField, value: String)] = [(.commonName, commonName)]
        if let organization { subject.append((.organization, organization)) }
        if let country { subject.append((.country, country)) }
        do throws(CryptographyError) {
            key = try PrivateKey.generateRSA(bits: WalletPolicy.smallestKey)
            request = try CertificateRequest.pem(subject: subject, key: key)
        } catch {
            throw OrderPackageError(error.code == .invalidInput ? .badRequest : .signing, error.message)
        }
    }

    /// Writes both files; the key is for its owner's eyes only (mode 0600), and nothing is ever overwritten.
    ///
    /// - Parameters:
    ///   - keyPath: where the key goes.
    ///   - requestPath: where the request goes.
    ///   - passphrase: encrypts the key (AES-256); nil leaves it as it is.
    /// - Throws: `alreadyExists`, `unwritable`, `badRequest` for an unusable passphrase.
    public func write(
        key keyPath: String,
        request requestPath: String,
        passphrase: Secret? = nil
    ) throws(OrderPackageError) {
        for path in [keyPath, requestPath] where Files.kind(path) != nil { throw Self.taken(path) }
        var text = try keyText(passphrase)
        defer { text.wipe() }
        try Self.create(text, keyPath, mode: 0o600)
        do throws(OrderPackageError) {
            try Self.create(request, requestPath, mode: 0o644)
        } catch {
            // A key without its request is of no use. It was made here, so it is ours to take away.
            try? Files.removeTree(keyPath)
            throw error
        }
    }

    private func keyText(_ passphrase: Secret?) throws(OrderPackageError) -> [UInt8] {
        guard let passphrase else { return key.pem() }
        do throws(CryptographyError) {
            return try key.pem(encryptedWith: passphrase.bytes)
        } catch {
            throw OrderPackageError(.badRequest, error.message)
        }
    }

    private static func create(_ bytes: [UInt8], _ path: String, mode: UInt32) throws(OrderPackageError) {
        let isOurs: Bool
        do throws(SystemError) {
            isOurs = try Files.create(bytes, at: path, mode: mode)
        } catch {
            throw OrderPackageError(.unwritable, path: path, "the file can't be written: \(error)")
        }
        if !isOurs { throw taken(path) }
    }

    private static func taken(_ path: String) -> OrderPackageError {
        OrderPackageError(.alreadyExists, path: path, "something stands there already; choose another name")
    }
}
