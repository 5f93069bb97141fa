// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An IPv4 or IPv6 address without a port. IPv4 inside IPv6 (`::ffff:192.0.2.1`, RFC 4291 2.5.5.2) is IPv4.
struct NetworkAddress: Hashable, Sendable {
    /// 4 or 16 bytes, the highest first.
    let bytes: [UInt8]

    /// Takes 4 or 16 bytes, the highest first.
    init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16:
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// Reads `192.0.2.1` or `2001:db8::1`; no name, no port, no brackets.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        // A NUL would end the text early for the C function.
        guard text.utf8.count < 64, !text.utf8.contains(0) else { return nil }
        let family = text.utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
        var buffer = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
        guard unsafe inet_pton(family, text, &buffer) == 1 else { return nil }
        self.init(bytes: buffer)
    }

    /// The address as people write it.
    var text: String {
        if self.bytes.count == 4 { return self.bytes.map(String.init).joined(separator: ".") }
        var buffer = [CChar](repeating: 0, count: 64)
        let isWritten = unsafe self.bytes.withUnsafeBytes {
            unsafe inet_ntop(AF_INET6, $0.baseAddress, &buffer, 64) != nil
        }
        guard isWritten else { return "::" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The first `length` bits, the others zero.
    func masked(to length: Int) -> [UInt8] {
        self.bytes.enumerated().map { index, byte in
            let bits = min(8, max(0, length - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xff00 >> bits)
        }
    }
}
