// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The certificates and keys in the bags of a PKCS#12 file (RFC 7292 4.2), all of them.
///
/// OpenSSL's own `PKCS12_parse` gives one key, and the certificate that goes with it.
@safe
final class PKCS12Bags {
    private(set) var certificates: [OpaquePointer] = unsafe []
    private(set) var keys: [OpaquePointer] = unsafe []
    /// Whether everything could be read.
    private(set) var areWhole = false

    /// Bags may lie in bags; files that people have nest none.
    private static let depthLimit = 8

    private typealias Text = UnsafePointer<CChar>

    /// Opens the file's parts; the thread's queue says why, when that fails.
    init(_ file: OpaquePointer, _ passphrase: UnsafePointer<CChar>?, _ length: Int32) {
        guard let parts = unsafe PKCS12_unpack_authsafes(file) else { return }
        defer { unsafe OPENSSL_sk_pop_free(parts) { unsafe PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        for index in unsafe 0..<max(0, OPENSSL_sk_num(parts)) {
            guard let part = unsafe OPENSSL_sk_value(parts, index)?.assumingMemoryBound(to: PKCS7.self) else { return }
            let bags: OpaquePointer?
            switch unsafe OBJ_obj2nid(part.pointee.type) {
            case NID_pkcs7_data: unsafe bags = PKCS12_unpack_p7data(part)
            case NID_pkcs7_encrypted: unsafe bags = PKCS12_unpack_p7encdata(part, passphrase, length)
            // Enveloped for somebody's key: nothing that a passphrase opens.
            default: continue
            }
            guard let bags = unsafe bags else { return }
            defer { unsafe OPENSSL_sk_pop_free(bags) { unsafe PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
            guard unsafe read(bags, passphrase, length, depth: 0) else { return }
        }
        areWhole = true
    }

    deinit {
        for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
        for index in unsafe keys.indices { unsafe EVP_PKEY_free(keys[index]) }
    }

    private func read(_ bags: OpaquePointer, _ passphrase: Text?, _ length: Int32, depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        let all = unsafe CertificateStack.elements(of: bags)
        for index in unsafe all.indices {
            let bag = unsafe all[index]
            switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
            case NID_certBag where unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                guard let certificate = unsafe PKCS12_SAFEBAG_get1_cert(bag) else { return false }
                unsafe certificates.append(certificate)
            case NID_keyBag:
                guard unsafe add(PKCS12_SAFEBAG_get0_p8inf(bag)) else { return false }
            case NID_pkcs8ShroudedKeyBag:
                guard let open = unsafe PKCS12_decrypt_skey(bag, passphrase, length) else { return false }
                defer { unsafe PKCS8_PRIV_KEY_INFO_free(open) }
                guard unsafe add(open) else { return false }
            case NID_safeContentsBag:
                guard let inner = unsafe PKCS12_SAFEBAG_get0_safes(bag) else { return false }
                guard unsafe read(inner, passphrase, length, depth: depth + 1) else { return false }
            default: break
            }
        }
        return true
    }

    private func add(_ key: OpaquePointer?) -> Bool {
        guard let key = unsafe key, let made = unsafe EVP_PKCS82PKEY(key) else { return false }
        unsafe keys.append(made)
        return true
    }
}
