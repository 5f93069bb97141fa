// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An owned, growing memory `BIO`, freed (and its memory wiped by OpenSSL) exactly once.
@safe
struct MemoryBuffer: ~Copyable {
    private let pointer: OpaquePointer

    /// An empty buffer that OpenSSL writes into.
    init() {
        guard let pointer = unsafe BIO_new(BIO_s_mem()) else { fatalError("out of memory") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe BIO_free_all(pointer)
    }

    /// Lends the `BIO` to one call.
    func withBIO<R>(_ body: (OpaquePointer) -> R) -> R {
        unsafe body(pointer)
    }

    /// What was written so far.
    func contents() -> [UInt8] {
        var start: UnsafeMutableRawPointer?
        // BIO_get_mem_data is a macro over this call.
        let count = unsafe BIO_ctrl(pointer, BIO_CTRL_INFO, 0, &start)
        guard count > 0, let start = unsafe start else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The contents as text.
    func text() -> String {
        String(decoding: contents(), as: UTF8.self)
    }
}

/// Lends `bytes` to OpenSSL as a read-only `BIO`, without a copy.
func withReadBuffer<R>(_ bytes: [UInt8], from start: Int = 0, _ body: (OpaquePointer) -> R) -> R {
    unsafe bytes.withUnsafeBytes { buffer in
        // An empty array may have no address at all, which BIO_new_mem_buf refuses.
        var placeholder: UInt8 = 0
        return unsafe withUnsafeBytes(of: &placeholder) { empty in
            let address = unsafe buffer.baseAddress ?? empty.baseAddress
            let rest = unsafe address.map { unsafe $0 + start }
            guard let bio = unsafe BIO_new_mem_buf(rest, Int32(clamping: buffer.count - start)) else {
                fatalError("out of memory")
            }
            defer { unsafe BIO_free_all(bio) }
            return unsafe body(bio)
        }
    }
}

/// Runs one of OpenSSL's `i2d_` functions: first for the length, then for the bytes.
func encodeDER(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let length = encode(nil)
    guard length > 0 else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
        var cursor = buffer.baseAddress
        count = unsafe Int(max(0, encode(&cursor)))
    }
}

/// Runs one of OpenSSL's `d2i_` functions over `bytes`; nil unless it made something **and** used every byte.
///
/// Bytes after the structure are refused: two readers could otherwise see two different things in one file.
func decodeDER(
    _ bytes: [UInt8],
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?,
    free: (OpaquePointer) -> Void
) -> OpaquePointer? {
    unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        guard let start = buffer.baseAddress else { return nil }
        var cursor: UnsafePointer<UInt8>? = unsafe start
        guard let object = unsafe decode(&cursor, buffer.count) else { return nil }
        guard unsafe cursor == start + buffer.count else {
            unsafe free(object)
            return nil
        }
        return unsafe object
    }
}
