// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel

/// What an order's authentication token is derived from, kept in its row instead of the token.
package struct TokenStamp: Sendable, Hashable {
    /// The key's number in the ring.
    package let kid: Int
    /// Random bytes of this order alone.
    package let nonce: [UInt8]

    /// Names a key and a nonce.
    package init(kid: Int, nonce: [UInt8]) {
        self.kid = kid
        self.nonce = nonce
    }
}

/// The ring of keys that authentication tokens are derived with:
/// `HMAC-SHA256(key[kid], type ‖ 0 ‖ order ‖ 0 ‖ nonce)`, base64url without padding.
///
/// A dump of the database holds no token. The newest key makes new tokens; older ones stay for the orders made with
/// them, because a token is inside packages that devices hold.
package struct TokenKeys: Sendable, CustomStringConvertible, CustomReflectable {
    let keys: [Int: [UInt8]]
    /// The key that new tokens are made with.
    package let newest: Int
    /// Stands in for the key of an order that is not there, so that the work is the same.
    private let decoy = SecureRandom.bytes(32)
    private let decoyNonce = SecureRandom.bytes(16)

    /// A ring of 256-bit keys by number.
    ///
    /// - Throws: ``StoreError`` with `badKeyFile` without keys, or with a key of another length.
    package init(keys: [Int: [UInt8]]) throws(StoreError) {
        guard let newest = keys.keys.max(), keys.values.allSatisfy({ $0.count == 32 }) else {
            throw StoreError(.badKeyFile, "The ring of token keys needs one key of 32 bytes at least.")
        }
        self.keys = keys
        self.newest = newest
    }

    private init(first key: [UInt8]) {
        self.keys = [1: key]
        self.newest = 1
    }

    /// A ring of one random key that lives as long as the process.
    package static func random() -> TokenKeys { TokenKeys(first: SecureRandom.bytes(32)) }

    /// What a new order's token is derived from.
    package func newStamp() -> TokenStamp { TokenStamp(kid: newest, nonce: SecureRandom.bytes(16)) }

    /// The token of an order.
    ///
    /// - Throws: ``StoreError`` with `unknownTokenKey` when the key is not in the ring.
    package func token(for key: OrderKey, stamp: TokenStamp) throws(StoreError) -> String {
        guard let secret = keys[stamp.kid] else { throw unknown(stamp.kid) }
        return derive(key, secret, stamp.nonce)
    }

    /// Whether a presented token is the order's. The work is the same for a wrong token, an unknown order (`stamp` nil)
    /// and an unknown key; the comparison takes constant time over a fixed length.
    package func matches(_ presented: String, key: OrderKey, stamp: TokenStamp?) -> Bool {
        let secret = stamp.flatMap { keys[$0.kid] }
        let expected = derive(key, secret ?? decoy, stamp?.nonce ?? decoyNonce)
        // Both sides are hashed to one length first: the presented one's length tells nothing by time.
        let equal = constantTimeEqual(
            HMACSHA256.authenticate(Array(expected.utf8), key: decoy),
            HMACSHA256.authenticate(Array(presented.utf8), key: decoy)
        )
        return equal && secret != nil
    }

    /// The unguessable part of a share link's URL. Derived like an order's token, from another text: an order type has no
    /// slash, so that no order's token can be a link's.
    ///
    /// - Throws: ``StoreError`` with `unknownTokenKey`.
    func shareToken(for key: OrderKey, link: String, kid: Int) throws(StoreError) -> String {
        guard let secret = keys[kid] else { throw unknown(kid) }
        var message = Array("share-link/\(link)".utf8)
        message.append(0)
        message.append(contentsOf: key.orderType.text.utf8)
        message.append(0)
        message.append(contentsOf: key.order.text.utf8)
        return Base64URL.encode(HMACSHA256.authenticate(message, key: secret))
    }

    /// What a database knows each key again by. The text is no order's and no link's, so a mark is no token.
    var marks: [Int: [UInt8]] {
        self.keys.mapValues { HMACSHA256.authenticate(Array("token-key-mark".utf8), key: $0) }
    }

    private func unknown(_ kid: Int) -> StoreError {
        StoreError(
            .unknownTokenKey,
            "Token key \(kid) is not in the keys directory; put its file back, or these orders' devices are locked out."
        )
    }

    private func derive(_ key: OrderKey, _ secret: [UInt8], _ nonce: [UInt8]) -> String {
        var message = Array(key.orderType.text.utf8)
        message.append(0)
        message.append(contentsOf: key.order.text.utf8)
        message.append(0)
        message.append(contentsOf: nonce)
        return Base64URL.encode(HMACSHA256.authenticate(message, key: secret))
    }

    /// How many keys, never the keys.
    package var description: String { "TokenKeys(\(keys.count) keys, newest \(newest))" }
    /// Never the keys.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
