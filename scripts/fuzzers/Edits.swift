// SPDX-License-Identifier: Apache-2.0

/// Changes to something good, so that a fuzzer gets behind checksums and signatures' forms.
enum Edits {
    /// Applies four bytes a change: what to do, where (two bytes), and with which byte.
    static func apply(_ input: ArraySlice<UInt8>, to good: [UInt8]) -> [UInt8] {
        var bytes = good
        var rest = input
        while rest.count >= 4, !bytes.isEmpty {
            let change = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            let place = (Int(change[1]) << 8 | Int(change[2])) % bytes.count
            switch change[0] % 4 {
            case 0: bytes[place] = change[3]
            case 1: bytes[place] ^= 1 << (change[3] & 7)
            case 2: bytes.insert(change[3], at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + Int(change[3])))
            }
        }
        return bytes
    }
}
