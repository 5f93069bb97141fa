// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A list of certificates in the form of OpenSSL's stacks, for the calls that want one.
///
/// It owns the list and keeps the certificates alive; OpenSSL's typed stack functions are macros over these.
@safe
struct CertificateStack: ~Copyable {
    private let pointer: OpaquePointer
    private let certificates: [Certificate]

    init(_ certificates: [Certificate]) {
        guard let pointer = unsafe OPENSSL_sk_new_null() else { fatalError("out of memory") }
        unsafe self.pointer = pointer
        self.certificates = certificates
        for certificate in certificates {
            unsafe OPENSSL_sk_push(pointer, UnsafeRawPointer(certificate.pointer))
        }
    }

    deinit {
        unsafe OPENSSL_sk_free(pointer)
    }

    /// Lends the stack to one call.
    func withPointer<R>(_ body: (OpaquePointer) -> R) -> R {
        unsafe body(pointer)
    }

    /// Each element of a stack that OpenSSL made, in order.
    static func elements(of stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack = unsafe stack else { return unsafe [] }
        return unsafe (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            unsafe OpaquePointer(OPENSSL_sk_value(stack, index))
        }
    }

    /// A certificate for each element, sharing it.
    static func certificates(of stack: OpaquePointer?) throws(CryptographyError) -> [Certificate] {
        let elements = unsafe elements(of: stack)
        var certificates: [Certificate] = []
        for index in unsafe elements.indices {
            certificates.append(try unsafe Certificate(sharing: elements[index]))
        }
        return certificates
    }

    /// Frees a stack of certificates that OpenSSL handed over, with its elements.
    static func free(_ stack: OpaquePointer?) {
        unsafe OPENSSL_sk_pop_free(stack) { unsafe X509_free(OpaquePointer($0)) }
    }
}
