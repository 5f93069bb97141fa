// SPDX-License-Identifier: Apache-2.0

/// The buckets of many clients in a fixed piece of memory.
///
/// A client's tag leads to a set of eight places. Seven belong to one client each, as long as its bucket is not full: a full
/// bucket says nothing, so its place goes to the next who needs one, and no sweep is ever due. Only when all seven are in use
/// does a newcomer draw from the eighth, which all newcomers to the set share. So
///
/// - memory never grows, whoever comes, and a look-up is eight comparisons at most;
/// - nobody loses a bucket that is not full, whoever comes: an owner is never pushed out;
/// - to hold one place, a client must ask as often as the limit allows: to fill the table, as often as all its places allow.
internal struct BucketTable: Sendable {
    private struct Place: Sendable {
        var tag: UInt64 = 0
        var bucket = TokenBucket()
    }

    /// The places of a set, the shared one included: two cache lines.
    internal static let places = 8

    private let sets: Int
    /// Made for the first client: a limit that nobody meets takes no memory.
    private var table: [Place] = []

    /// Makes a table for some thousands of clients at once.
    ///
    /// - Parameter sets: how many sets of eight places, rounded up to a power of two.
    internal init(sets: Int) {
        var power = 1
        while power < sets { power *= 2 }
        self.sets = power
    }

    /// How much memory it takes once it is used, in bytes.
    internal var size: Int { self.table.count * MemoryLayout<Place>.stride }

    /// Does something with a client's bucket.
    ///
    /// - Parameter tag: evenly spread, and not to be foreseen by those who choose the names of clients.
    internal mutating func withBucket<Result>(
        of tag: UInt64,
        at now: MonotonicTime,
        _ body: (inout TokenBucket) -> Result
    ) -> Result {
        if self.table.isEmpty { self.table = Array(repeating: Place(), count: self.sets * Self.places) }
        let index = self.index(of: tag, at: now)
        return body(&self.table[index].bucket)
    }

    private mutating func index(of tag: UInt64, at now: MonotonicTime) -> Int {
        let first = Int(truncatingIfNeeded: tag & UInt64(self.sets - 1)) * Self.places
        let shared = first + Self.places - 1
        var free: Int?
        for index in first..<shared {
            if self.table[index].tag == tag { return index }
            if free == nil, self.table[index].bucket.isFull(at: now) { free = index }
        }
        guard let free else { return shared }
        self.table[free] = Place(tag: tag)
        return free
    }
}
