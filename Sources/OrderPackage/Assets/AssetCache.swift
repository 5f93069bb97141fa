// SPDX-License-Identifier: Apache-2.0

public import Cryptography
import ServiceRuntime

/// Assets kept in memory by digest, up to a number of bytes; what hasn't been asked for goes first.
///
/// Any thread may use it. It holds contents that never change, so it needs no invalidation.
public final class AssetCache: Sendable {
    private let capacity: Int
    private let store = Locked(Store())

    /// A cache for at most `capacity` bytes of contents.
    public init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    /// The asset of a digest, when it is held.
    public func asset(_ digest: SHA256Digest) -> Asset? {
        store.withLock { $0.find(digest) }
    }

    /// Holds an asset, and lets others go as needed. One that alone exceeds the capacity isn't held.
    public func insert(_ asset: Asset) {
        guard asset.contents.count <= capacity else { return }
        store.withLock { $0.insert(asset, capacity: capacity) }
    }

    /// The bytes of contents held now.
    public var byteCount: Int { store.withLock { $0.byteCount } }

    /// The assets held now.
    public var count: Int { store.withLock { $0.positions.count } }

    /// A clock (second chance): each slot remembers whether it was used since the hand last came by. Nearly the
    /// choice of least recently used, without moving anything on a hit.
    private struct Store: Sendable {
        struct Slot: Sendable {
            var asset: Asset
            var isUsed: Bool
        }

        var slots: [Slot] = []
        var positions: [SHA256Digest: Int] = [:]
        var hand = 0
        var byteCount = 0

        mutating func find(_ digest: SHA256Digest) -> Asset? {
            guard let position = positions[digest] else { return nil }
            slots[position].isUsed = true
            return slots[position].asset
        }

        mutating func insert(_ asset: Asset, capacity: Int) {
            guard positions[asset.digest] == nil else { return }
            while byteCount + asset.contents.count > capacity, !slots.isEmpty { evict() }
            positions[asset.digest] = slots.count
            slots.append(Slot(asset: asset, isUsed: false))
            byteCount += asset.contents.count
        }

        private mutating func evict() {
            while true {
                if hand >= slots.count { hand = 0 }
                if slots[hand].isUsed {
                    slots[hand].isUsed = false
                    hand += 1
                    continue
                }
                let gone = slots[hand].asset
                positions[gone.digest] = nil
                byteCount -= gone.contents.count
                let last = slots.removeLast()
                if hand < slots.count {
                    slots[hand] = last
                    positions[last.asset.digest] = hand
                }
                return
            }
        }
    }
}
