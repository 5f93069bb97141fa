// SPDX-License-Identifier: Apache-2.0

import Cryptography
import PostgreSQL

extension SHA256Digest {
    /// A digest that was read back from the database.
    ///
    /// - Throws: ``StoreError`` with `corrupt` when it is of another length: that a hand or a damaged disk made, and it must
    ///   not end the process.
    init(stored bytes: [UInt8]) throws(StoreError) {
        guard bytes.count == Self.byteCount else { throw StoreError.corruptRow }
        self.init(bytes: bytes)
    }
}

extension StoreError {
    static let corruptRow = StoreError(.corrupt, "A row of the database can't be read back; run walletorders doctor.")
}

/// Turns a fault in what was read back from the database into one error that says so.
func stored<Value>(_ read: () throws -> Value) throws -> Value {
    do {
        return try read()
    } catch let error as PostgresError {
        throw error
    } catch {
        throw StoreError.corruptRow
    }
}
