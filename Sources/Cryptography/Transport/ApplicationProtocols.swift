// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Protocol names offered in a handshake (ALPN, RFC 7301), best first, in the form that OpenSSL reads.
final class ApplicationProtocols: Sendable {
    /// Each name after its length.
    let wireForm: [UInt8]

    /// - Throws: `invalidInput` for a name that is empty or longer than 255 bytes.
    init(_ names: [String]) throws(CryptographyError) {
        var wireForm: [UInt8] = []
        for name in names {
            guard (1...255).contains(name.utf8.count) else {
                throw CryptographyError(.invalidInput, "a protocol name has 1 to 255 bytes")
            }
            wireForm.append(UInt8(name.utf8.count))
            wireForm += Array(name.utf8)
        }
        self.wireForm = wireForm
    }

    /// Chooses by the server's order. A client that offers only others is refused, as RFC 7301 3.2 asks; one that offers
    /// nothing at all never gets here.
    static let select:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, chosen, chosenLength, offered, offeredLength, context in
            guard let context = unsafe context, let chosen = unsafe chosen, let chosenLength = unsafe chosenLength,
                let offered = unsafe offered
            else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            let own = unsafe Unmanaged<ApplicationProtocols>.fromOpaque(context).takeUnretainedValue().wireForm
            let client = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
            var position = 0
            while position < own.count {
                let length = Int(own[position])
                var candidate = 0
                while candidate < client.count {
                    let candidateLength = unsafe Int(client[candidate])
                    let end = candidate + 1 + candidateLength
                    guard end <= client.count else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                    if candidateLength == length,
                        unsafe client[candidate + 1..<end].elementsEqual(own[position + 1...position + length])
                    {
                        // The answer must point into memory that outlives this call: the client's own list does.
                        unsafe chosen.pointee = offered + candidate + 1
                        unsafe chosenLength.pointee = UInt8(length)
                        return SSL_TLSEXT_ERR_OK
                    }
                    candidate = end
                }
                position += 1 + length
            }
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }
}
