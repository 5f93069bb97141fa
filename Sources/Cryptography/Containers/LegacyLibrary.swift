// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A library context of OpenSSL's with the `legacy` provider beside `default`, for one import.
///
/// A context of its own, so that the old ciphers are never available to anything else in the process.
@safe
struct LegacyLibrary: ~Copyable {
    private let pointer: OpaquePointer
    private let providers: [OpaquePointer]

    /// - Throws: `legacyProviderMissing`.
    init() throws(CryptographyError) {
        guard let pointer = unsafe OSSL_LIB_CTX_new() else { fatalError("out of memory") }
        var providers: [OpaquePointer] = unsafe []
        for name in ["default", "legacy"] {
            guard let provider = unsafe OSSL_PROVIDER_load(pointer, name) else {
                for index in unsafe providers.indices { unsafe OSSL_PROVIDER_unload(providers[index]) }
                unsafe OSSL_LIB_CTX_free(pointer)
                throw OpenSSLFailures.drain().error(
                    .legacyProviderMissing,
                    "the file uses ciphers of OpenSSL's legacy provider, which is not installed; convert it with an"
                        + " older OpenSSL"
                )
            }
            unsafe providers.append(provider)
        }
        unsafe self.pointer = pointer
        unsafe self.providers = providers
    }

    deinit {
        for index in unsafe providers.indices { unsafe OSSL_PROVIDER_unload(providers[index]) }
        unsafe OSSL_LIB_CTX_free(pointer)
    }

    /// Lends the library context to one import.
    func withContext<R>(
        _ body: (OpaquePointer) throws(CryptographyError) -> R
    ) throws(CryptographyError) -> R {
        try unsafe body(pointer)
    }
}
