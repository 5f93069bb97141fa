// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// What many TLS connections share: certificate, key, trust, protocols. TLS 1.2 and 1.3 (RFC 8446).
@safe
package final class TLSContext: @unchecked Sendable {
    // Never changed after init. OpenSSL counts references atomically and locks what its connections share (tickets,
    // trust store), so sessions may be made on any thread.
    let pointer: OpaquePointer
    /// Which side of a connection this is for.
    package let isServer: Bool
    private let protocols: ApplicationProtocols

    private init(server: Bool, alpn: [String]) throws(CryptographyError) {
        OpenSSLFailures.clear()
        protocols = try ApplicationProtocols(alpn)
        isServer = server
        guard let pointer = unsafe SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()) else {
            throw OpenSSLFailures.drain().error(.failed, "OpenSSL's TLS could not be started")
        }
        unsafe self.pointer = pointer
        // Several of these are macros over SSL_CTX_ctrl, or hidden in macros that Swift can't read.
        let noCompression: UInt64 = 1 << 17
        let serverPreference: UInt64 = 1 << 22
        let noRenegotiation: UInt64 = 1 << 30
        unsafe SSL_CTX_set_options(pointer, noCompression | noRenegotiation | (server ? serverPreference : 0))
        // Buffers only live while bytes are in them (thousands of idle connections), and a write that was cut short may
        // go on from another address: the caller's buffers move.
        let mode =
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
            | SSL_MODE_AUTO_RETRY
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // Sessions resume by tickets, which cost the server no memory.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        guard unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1 else {
            throw OpenSSLFailures.drain().error(.failed, "OpenSSL is built without TLS 1.2")
        }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    /// For a server.
    /// - Parameters:
    ///   - certificate: what clients see, with its names in subjectAltName.
    ///   - chain: the intermediates that lead to the root, without the root.
    ///   - alpn: protocol names, best first; a client that offers only others is refused. Empty: none is chosen.
    /// - Throws: `keyMismatch`, `weakKey`, `weakSignature`, `invalidInput`, `failed`.
    package static func server(
        certificate: Certificate,
        chain: [Certificate],
        key: PrivateKey,
        alpn: [String],
        clientCertificates: ClientCertificatePolicy
    ) throws(CryptographyError) -> TLSContext {
        let context = try TLSContext(server: true, alpn: alpn)
        try context.use(certificate: certificate, chain: chain, key: key)
        if !alpn.isEmpty {
            // The context owns the list, and every session owns the context.
            let list = unsafe Unmanaged.passUnretained(context.protocols).toOpaque()
            unsafe SSL_CTX_set_alpn_select_cb(context.pointer, ApplicationProtocols.select, list)
        }
        if case .optional(let roots) = clientCertificates {
            try context.trust(roots)
            // Without a name for the sessions, resuming one that carried a certificate is a fatal error.
            let name = Array("walletorders".utf8)
            unsafe SSL_CTX_set_session_id_context(context.pointer, name, UInt32(name.count))
            // Whatever the check finds, the connection goes on; the verdict stays in the session.
            unsafe SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER) { _, _ in 1 }
        }
        return context
    }

    /// For a client, which refuses servers that it can't verify.
    /// - Parameter identity: shown to servers that ask.
    /// - Throws: `keyMismatch`, `weakKey`, `weakSignature`, `invalidInput`, `failed`.
    package static func client(
        trust: TLSTrust,
        alpn: [String],
        identity: (certificate: Certificate, chain: [Certificate], key: PrivateKey)?
    ) throws(CryptographyError) -> TLSContext {
        let context = try TLSContext(server: false, alpn: alpn)
        if let identity {
            try context.use(certificate: identity.certificate, chain: identity.chain, key: identity.key)
        }
        if !alpn.isEmpty {
            let wireForm = context.protocols.wireForm
            // This one call returns 0 for success.
            guard unsafe SSL_CTX_set_alpn_protos(context.pointer, wireForm, UInt32(wireForm.count)) == 0 else {
                throw OpenSSLFailures.drain().error(.failed, "the protocol names could not be set")
            }
        }
        switch trust {
        case .system:
            guard unsafe SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
                throw OpenSSLFailures.drain().error(.failed, "the system's root certificates can't be read")
            }
        case .certificates(let certificates):
            try context.trust(certificates)
        }
        unsafe SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        return context
    }

    private func use(
        certificate: Certificate,
        chain: [Certificate],
        key: PrivateKey
    ) throws(CryptographyError) {
        guard certificate.matches(key) else {
            throw CryptographyError(
                .keyMismatch,
                "the private key does not belong to \(certificate.subjectDescription)"
            )
        }
        OpenSSLFailures.clear()
        let level = { () throws(CryptographyError) in
            let failures = OpenSSLFailures.drain()
            if failures.contain(library: ERR_LIB_SSL, reason: SSL_R_EE_KEY_TOO_SMALL)
                || failures.contain(library: ERR_LIB_SSL, reason: SSL_R_CA_KEY_TOO_SMALL)
            {
                throw failures.error(.weakKey, "a key of \(certificate.keyBits) bits is too small for TLS here")
            }
            if failures.contain(library: ERR_LIB_SSL, reason: SSL_R_CA_MD_TOO_WEAK) {
                throw failures.error(.weakSignature, "a certificate is signed with SHA-1, which TLS here refuses")
            }
            throw failures.error(.failed, "TLS can't use \(certificate.subjectDescription)")
        }
        guard unsafe SSL_CTX_use_certificate(pointer, certificate.pointer) == 1 else { return try level() }
        guard unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1 else { return try level() }
        for intermediate in chain where !intermediate.isSelfIssued {
            // SSL_CTX_add1_chain_cert is a macro over this call.
            let done = unsafe SSL_CTX_ctrl(
                pointer,
                SSL_CTRL_CHAIN_CERT,
                1,
                UnsafeMutableRawPointer(intermediate.pointer)
            )
            guard done == 1 else { return try level() }
        }
        // Otherwise OpenSSL would look for intermediates in the trust store at each handshake.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_NO_AUTO_CHAIN), nil)
    }

    private func trust(_ certificates: [Certificate]) throws(CryptographyError) {
        guard let store = unsafe SSL_CTX_get_cert_store(pointer) else { return }
        unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        for certificate in certificates {
            guard unsafe X509_STORE_add_cert(store, certificate.pointer) == 1 else {
                throw OpenSSLFailures.drain().error(.failed, "\(certificate.subjectDescription) can't be trusted")
            }
        }
    }
}
