// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension [UInt8] {
    /// Overwrites secret bytes in a way that the optimizer keeps, then empties the array.
    ///
    /// Only the last reference's bytes are overwritten: of a shared array Swift would make a copy first.
    package mutating func wipe() {
        let length = count
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, length) }
        removeAll()
    }
}
