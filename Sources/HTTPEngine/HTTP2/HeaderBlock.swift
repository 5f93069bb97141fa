// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2

/// The fields of one header block on their way to the HPACK encoder, in one buffer that is used again and again.
struct HeaderBlock {
    private struct Entry {
        let start: Int
        let nameLength: Int
        let valueLength: Int
        let flags: UInt8
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    /// Forgets the fields but not the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 64 * 1024)
        entries.removeAll(keepingCapacity: true)
    }

    /// Adds a field whose name and value are known to be legal.
    ///
    /// - Parameter neverIndex: keeps the field out of the compression table: for secrets (RFC 7541 7.1.3), and for values
    ///   that never come again and would only push out those that do.
    mutating func append(_ name: String, _ value: String, neverIndex: Bool = false) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let middle = bytes.count
        bytes.append(contentsOf: value.utf8)
        entries.append(
            Entry(
                start: start,
                nameLength: middle - start,
                valueLength: bytes.count - middle,
                flags: UInt8(neverIndex ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)
            )
        )
    }

    /// Adds a field only if HTTP/2 allows its name and value.
    ///
    /// - Returns: whether it does.
    mutating func appendChecked(_ name: String, _ value: String, neverIndex: Bool = false) -> Bool {
        append(name, value, neverIndex: neverIndex)
        guard let entry = entries.last else { return false }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            let value = unsafe base + entry.start + entry.nameLength
            guard unsafe base[entry.start] == UInt8(ascii: ":") else {
                return unsafe nghttp2_check_header_name(base + entry.start, entry.nameLength) != 0
                    && nghttp2_check_header_value_rfc9113(value, entry.valueLength) != 0
            }
            switch name {
            case ":method": return unsafe nghttp2_check_method(value, entry.valueLength) != 0
            case ":path":
                return unsafe entry.valueLength > 0 && nghttp2_check_path(value, entry.valueLength) != 0
            default: return unsafe nghttp2_check_authority(value, entry.valueLength) != 0
            }
        }
    }

    /// Calls `body` with the fields in nghttp2's form, which copies what it needs.
    func withFields(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) -> Int32 {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: entries.count) { fields in
                guard let base = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress) else {
                    return body(nil, 0)
                }
                for (index, entry) in entries.enumerated() {
                    unsafe fields.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: base + entry.start,
                            value: base + entry.start + entry.nameLength,
                            namelen: entry.nameLength,
                            valuelen: entry.valueLength,
                            flags: entry.flags
                        )
                    )
                }
                return unsafe body(UnsafePointer(fields.baseAddress), entries.count)
            }
        }
    }
}
