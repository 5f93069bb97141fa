// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// One TLS connection over a non-blocking socket.
///
/// It has no loop inside: each call does what can be done at once and says which readiness to wait for. A session
/// belongs to one thread at a time, and never closes the descriptor.
@safe
package final class TLSSession {
    private enum State {
        case handshaking
        case open
        /// Our goodbye is sent.
        case closed
        /// OpenSSL forbids every further call but freeing.
        case failed
    }

    /// How often one call may go to the socket. A record takes two reads.
    private static let readsPerCall = 64
    /// How many messages that are no data a connection may be sent before it carries any.
    private static let freeMessages = 32
    /// The data that pays for one more. Keys are due for a change after gigabytes (RFC 8446 5.5).
    private static let bytesPerMessage = 1024

    let pointer: OpaquePointer
    private let context: TLSContext
    private var state = State.handshaking
    /// How often the call under way may still go to the socket.
    private var readsLeft = TLSSession.readsPerCall
    /// What the other side may still have us do beside its data, in bytes of data.
    private var allowance = TLSSession.freeMessages * TLSSession.bytesPerMessage

    /// - Parameters:
    ///   - descriptor: a connected non-blocking socket; the caller keeps it open longer than the session.
    ///   - serverName: for clients, who the server must be: a host name (also sent as SNI) or an IP address. Servers
    ///     leave it out.
    /// - Throws: `invalidInput` for a client without a usable name, `failed`.
    package init(_ context: TLSContext, descriptor: Int32, serverName: String?) throws(CryptographyError) {
        OpenSSLFailures.clear()
        guard let pointer = unsafe SSL_new(context.pointer) else {
            throw OpenSSLFailures.drain().error(.failed, "no TLS session could be made")
        }
        unsafe self.pointer = pointer
        self.context = context
        guard unsafe SSL_set_fd(pointer, descriptor) == 1 else {
            throw OpenSSLFailures.drain().error(.failed, "the socket could not be used for TLS")
        }
        self.bound()
        if context.isServer {
            unsafe SSL_set_accept_state(pointer)
        } else {
            unsafe SSL_set_connect_state(pointer)
            try expect(serverName)
        }
    }

    deinit {
        unsafe SSL_free(pointer)
    }

    /// Keeps the other side from prolonging a call, or making us work, for as long as it likes.
    ///
    /// OpenSSL goes on reading inside one call until it has data: over changes of keys and refused renegotiations, which can
    /// come faster than they are dealt with. So a call has a number of reads, and a connection a number of such messages.
    private func bound() {
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        // SSL_set_msg_callback_arg is a macro over this call.
        unsafe SSL_ctrl(pointer, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, owner)
        unsafe SSL_set_msg_callback(pointer) { isWritten, _, type, _, _, _, owner in
            // Of what is written only alerts: each refused renegotiation is answered with one.
            guard type == SSL3_RT_ALERT || type == SSL3_RT_HANDSHAKE && isWritten == 0, let owner = unsafe owner else {
                return
            }
            let session = unsafe Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
            if session.state == .open { session.allowance -= TLSSession.bytesPerMessage }
        }
        guard let socket = unsafe SSL_get_rbio(pointer) else { return }
        unsafe BIO_set_callback_arg(socket, owner.assumingMemoryBound(to: CChar.self))
        unsafe BIO_set_callback_ex(socket) { socket, operation, _, _, _, _, result, _ in
            guard operation == BIO_CB_READ, let owner = unsafe BIO_get_callback_arg(socket) else { return Int(result) }
            let session = unsafe Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
            session.readsLeft -= 1
            if session.readsLeft >= 0, session.allowance >= 0 { return Int(result) }
            unsafe BIO_clear_flags(socket, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            // As if the socket had no more: it tells again.
            if session.allowance >= 0 { unsafe BIO_set_flags(socket, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY) }
            return -1
        }
    }

    /// Makes the handshake fail unless the server's certificate carries this name.
    private func expect(_ serverName: String?) throws(CryptographyError) {
        guard var name = serverName, !name.isEmpty, name.utf8.allSatisfy({ $0 != 0 }) else {
            throw CryptographyError(.invalidInput, "a TLS client needs the name of its server, to check it")
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(pointer), name) == 1 { return }
        // SNI has no place for addresses or for the root's dot (RFC 6066 3).
        if name.hasSuffix(".") { name.removeLast() }
        OpenSSLFailures.clear()
        unsafe SSL_set_hostflags(pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        let done =
            unsafe SSL_set1_host(pointer, name) == 1
            && name.withCString { text in
                // SSL_set_tlsext_host_name is a macro over this call.
                unsafe SSL_ctrl(
                    pointer,
                    SSL_CTRL_SET_TLSEXT_HOSTNAME,
                    Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: text)
                )
            } == 1
        guard done else { throw OpenSSLFailures.drain().error(.invalidInput, "\(name) is no host name") }
    }

    /// Goes on with the handshake. Call again after the readiness that it asks for, until `done`.
    /// - Throws: `untrustedPeer`, `tls`, `truncated`, `connectionLost`.
    package func handshake() throws(CryptographyError) -> TLSProgress {
        guard state == .handshaking else {
            if state == .open { return .done }
            throw Self.unusable
        }
        OpenSSLFailures.clear()
        errno = 0
        readsLeft = Self.readsPerCall
        let result = unsafe SSL_do_handshake(pointer)
        if result == 1 {
            state = .open
            return .done
        }
        switch try outcome(of: result, "the TLS handshake failed") {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closed, .bytes:
            state = .failed
            throw CryptographyError(.truncated, "the other side closed the connection during the TLS handshake")
        }
    }

    /// Reads what is there, up to the buffer's size.
    ///
    /// Readiness of the descriptor says nothing about bytes that OpenSSL holds already: read until `wantsRead`, or look
    /// at `hasBufferedInput`, before waiting. `wantsRead` comes, too, while the socket has more, after records that carry no
    /// data: wait for readiness by level, not by edge.
    /// - Throws: `truncated` when the connection ended without goodbye, `connectionLost`, `tls`, also when the other side
    ///   changes its keys or asks for new handshakes without end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(CryptographyError) -> TLSTransfer {
        guard state == .open else { throw Self.unusable }
        guard let start = buffer.baseAddress, unsafe !buffer.isEmpty else { return .bytes(0) }
        OpenSSLFailures.clear()
        errno = 0
        readsLeft = Self.readsPerCall
        var count = 0
        let result = unsafe SSL_read_ex(pointer, start, buffer.count, &count)
        if result == 1 {
            allowance = min(allowance + count, Self.freeMessages * Self.bytesPerMessage)
            return .bytes(count)
        }
        if allowance < 0 {
            state = .failed
            OpenSSLFailures.clear()
            throw CryptographyError(.tls, "the other side sends TLS messages without end that carry no data")
        }
        return try outcome(of: result, "reading from the TLS connection failed")
    }

    /// Writes as much as the socket takes.
    ///
    /// After `wantsWrite` or `wantsRead` the same bytes must be offered again, from any address, and not fewer: a part
    /// of them may be encrypted already.
    /// - Throws: `tls`, `connectionLost`.
    package func write(_ buffer: UnsafeRawBufferPointer) throws(CryptographyError) -> TLSTransfer {
        guard state == .open else { throw Self.unusable }
        guard let start = buffer.baseAddress, unsafe !buffer.isEmpty else { return .bytes(0) }
        OpenSSLFailures.clear()
        errno = 0
        readsLeft = Self.readsPerCall
        var count = 0
        let result = unsafe SSL_write_ex(pointer, start, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        return try outcome(of: result, "writing to the TLS connection failed")
    }

    /// Says goodbye once, and doesn't wait for an answer. Closing the descriptor is the caller's.
    /// - Returns: whether it is said, as far as it can be; false when the socket has no room: call again once it has. A peer
    ///   that hears no goodbye takes what it got before for cut short.
    @discardableResult
    package func close() -> Bool {
        guard state == .open else { return true }
        OpenSSLFailures.clear()
        let result = unsafe SSL_shutdown(pointer)
        let mustWait = unsafe result < 0 && SSL_get_error(pointer, result) == SSL_ERROR_WANT_WRITE
        OpenSSLFailures.clear()
        if mustWait { return false }
        state = .closed
        return true
    }

    /// Whether OpenSSL holds received bytes that the descriptor's readiness no longer tells of.
    package var hasBufferedInput: Bool { unsafe SSL_has_pending(pointer) == 1 }

    /// The protocol that both sides agreed on, after the handshake.
    package var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(pointer, &start, &length)
        guard length > 0, let start = unsafe start else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    /// `TLSv1.3` or `TLSv1.2`, after the handshake.
    package var protocolVersion: String { unsafe String(cString: SSL_get_version(pointer)) }

    /// The host name that a client asked for, on a server.
    package var requestedServerName: String? {
        guard let name = unsafe SSL_get_servername(pointer, TLSEXT_NAMETYPE_host_name) else { return nil }
        return unsafe String(cString: name)
    }

    /// The other side's certificate, or nil when it showed none.
    package var peerCertificate: Certificate? {
        guard let certificate = unsafe SSL_get1_peer_certificate(pointer) else { return nil }
        return try? unsafe Certificate(takingOwnership: certificate)
    }

    /// What the other side showed besides its certificate, in its order.
    package var peerIntermediates: [Certificate] {
        guard let stack = unsafe SSL_get_peer_cert_chain(pointer) else { return [] }
        // On a client the list begins with the server's own certificate.
        let first: Int32 = context.isServer ? 0 : 1
        let count = unsafe OPENSSL_sk_num(stack)
        guard count > first else { return [] }
        return (first..<count).compactMap { index in
            guard let value = unsafe OPENSSL_sk_value(stack, index) else { return nil }
            return try? unsafe Certificate(sharing: OpaquePointer(value))
        }
    }

    /// Whether the other side showed a certificate that leads to a trusted root.
    package var peerVerified: Bool {
        guard let certificate = unsafe SSL_get0_peer_certificate(pointer) else { return false }
        _ = unsafe certificate
        return unsafe SSL_get_verify_result(pointer) == Int(X509_V_OK)
    }

    /// Why the other side's certificate isn't verified, or nil.
    package var peerFault: String? {
        let result = unsafe SSL_get_verify_result(pointer)
        guard result != Int(X509_V_OK) else { return nil }
        return unsafe String(cString: X509_verify_cert_error_string(result))
    }

    private static var unusable: CryptographyError {
        CryptographyError(.tls, "the TLS session is not open")
    }

    /// Turns OpenSSL's verdict into a value; read at once, before anything else can touch errno or the queue.
    private func outcome(of result: Int32, _ what: String) throws(CryptographyError) -> TLSTransfer {
        let systemError = errno
        switch unsafe SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            let wasHandshaking = state == .handshaking
            state = .failed
            OpenSSLFailures.clear()
            guard systemError != 0 else {
                throw CryptographyError(.truncated, "\(what): the connection ended without goodbye")
            }
            let reason = unsafe String(cString: strerror(systemError))
            throw CryptographyError(
                .connectionLost,
                "\(what): \(reason)\(wasHandshaking ? " (is the other side speaking TLS?)" : "")"
            )
        default:
            let failures = OpenSSLFailures.drain()
            let wasHandshaking = state == .handshaking
            state = .failed
            if failures.contain(library: ERR_LIB_SSL, reason: SSL_R_UNEXPECTED_EOF_WHILE_READING) {
                throw failures.error(.truncated, "\(what): the connection ended without goodbye")
            }
            if wasHandshaking, !context.isServer, let fault = peerFault {
                throw failures.error(.untrustedPeer, "the server's certificate is not trusted: \(fault)")
            }
            throw failures.error(.tls, what)
        }
    }
}
