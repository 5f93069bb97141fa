// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A passphrase's bytes with a terminating zero, as OpenSSL wants them; wiped when the last reference goes.
final class Passphrase {
    /// nil: no passphrase was given.
    private var bytes: [UInt8]?
    /// Set once OpenSSL asked: the key is encrypted.
    private(set) var wasAsked = false

    /// Takes a copy that is wiped later; the caller's array stays the caller's.
    init(_ bytes: [UInt8]?) {
        self.bytes = bytes.map { $0 + [0] }
    }

    deinit {
        bytes?.wipe()
    }

    /// Whether a zero byte inside would cut the passphrase short for C.
    var isUsable: Bool {
        guard let bytes else { return true }
        return !bytes.dropLast().contains(0) && bytes.count <= 1024
    }

    /// Lends the zero-terminated text and its length to one call.
    func withCString<R>(_ body: (UnsafePointer<CChar>, Int32) -> R) -> R {
        unsafe (bytes ?? [0]).withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { fatalError("a terminated text has an address") }
            return unsafe body(start.assumingMemoryBound(to: CChar.self), Int32(buffer.count - 1))
        }
    }

    /// Fills OpenSSL's buffer; -1 (no passphrase) when there is none or it doesn't fit.
    func fill(_ buffer: UnsafeMutablePointer<CChar>, capacity: Int32) -> Int32 {
        wasAsked = true
        guard let bytes, bytes.count - 1 <= Int(capacity) else { return -1 }
        for (index, byte) in bytes.dropLast().enumerated() {
            unsafe buffer[index] = CChar(bitPattern: byte)
        }
        return Int32(bytes.count - 1)
    }

    /// The callback for OpenSSL's PEM readers. Without one OpenSSL would prompt on the terminal.
    static let callback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            buffer,
            capacity,
            _,
            context in
            guard let buffer = unsafe buffer, let context = unsafe context else { return -1 }
            return unsafe Unmanaged<Passphrase>.fromOpaque(context).takeUnretainedValue().fill(
                buffer,
                capacity: capacity
            )
        }

    /// Lends this object, as the callback's context, to one call.
    func withContext<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R {
        withExtendedLifetime(self) { unsafe body(Unmanaged.passUnretained(self).toOpaque()) }
    }
}
