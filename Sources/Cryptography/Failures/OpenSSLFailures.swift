// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL's error queue, taken over as a value.
///
/// The queue belongs to the thread and outlives the call that filled it, so every operation clears it first and drains
/// it at once when it fails: an old error must never be blamed on a new call.
struct OpenSSLFailures: Sendable {
    /// One entry of the queue.
    struct Entry: Sendable {
        let library: Int32
        let reason: Int32
        let text: String
    }

    /// Oldest first.
    let entries: [Entry]

    /// Forgets what earlier calls on this thread left behind.
    static func clear() {
        ERR_clear_error()
    }

    /// Takes everything out of this thread's queue.
    static func drain() -> OpenSSLFailures {
        var entries: [Entry] = []
        while true {
            var data: UnsafePointer<CChar>?
            var flags: Int32 = 0
            let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard code != 0 else { break }
            var text = "error \(String(code, radix: 16))"
            if let reason = unsafe ERR_reason_error_string(code) {
                text = unsafe String(cString: reason)
            }
            if flags & ERR_TXT_STRING != 0, let detail = unsafe data, unsafe detail.pointee != 0 {
                text += unsafe " (\(String(cString: detail)))"
            }
            entries.append(Entry(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text))
        }
        return OpenSSLFailures(entries: entries)
    }

    /// Whether any entry is of a library.
    func contain(library: Int32) -> Bool { entries.contains { $0.library == library } }

    /// Whether the queue held this reason of this library.
    func contain(library: Int32, reason: Int32) -> Bool {
        entries.contains { $0.library == library && $0.reason == reason }
    }

    /// Whether an algorithm was asked for that no loaded provider offers.
    var nameUnsupportedAlgorithm: Bool {
        // ERR_R_UNSUPPORTED: a common reason, whose macro Swift can't see.
        let unsupported: Int32 = 268 | (0x2 << 18)
        return entries.contains {
            $0.reason == unsupported || $0.text.hasPrefix("unsupported") || $0.text.hasPrefix("unknown cipher")
        }
    }

    /// The queue as an error.
    func error(_ code: CryptographyError.Code, _ message: String) -> CryptographyError {
        CryptographyError(code, message, libraryErrors: entries.map(\.text))
    }
}
