// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension [UInt8] {
    /// Overwrites secret bytes in a way that the optimizer keeps, then empties the array.
    mutating func wipe() {
        let length = count
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, length) }
        removeAll()
    }
}
