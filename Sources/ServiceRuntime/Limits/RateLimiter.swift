// SPDX-License-Identifier: Apache-2.0

/// Judges how often each of many clients may ask: a ``TokenBucket`` for each, in fixed memory.
///
/// It counts for its own process: several processes behind one address let each client have as many times as much.
package final class RateLimiter: Sendable {
    /// Whose bucket it is: a digest of what names a client, under a key that is drawn when the process starts.
    ///
    /// Nobody outside can choose names that meet in one place, and no name is kept. Two clients share a bucket once in
    /// 2⁶⁴ pairs.
    package struct Key: Hashable, Sendable {
        internal let tag: UInt64

        /// Takes up to three texts that name a client together. By their bytes: text from outside may be long runs of
        /// accents, which Swift's own hashing would sort.
        package init(_ first: String, _ second: String = "", _ third: String = "") {
            var hasher = Hasher()
            Self.add(first, to: &hasher)
            Self.add(second, to: &hasher)
            Self.add(third, to: &hasher)
            self.tag = UInt64(bitPattern: Int64(hasher.finalize()))
        }

        /// The length goes first: "ab", "c" is another client than "a", "bc".
        private static func add(_ text: String, to hasher: inout Hasher) {
            hasher.combine(text.utf8.count)
            let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
                unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
            }
            if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
        }
    }

    /// What is said to one request.
    package enum Verdict: Hashable, Sendable {
        /// It may come.
        case allowed
        /// It may not, and none before this time has passed.
        case refused(wait: Duration)
    }

    private struct State: Sendable {
        var rate: TokenRate?
        var table: BucketTable
    }
    private let state: Locked<State>

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - rate: what each client may ask for; nil lets everything through.
    ///   - clients: about how many clients at once have a bucket of their own. Memory for all of them, 18 to 37 bytes each, is
    ///     taken with the first one.
    package init(_ rate: TokenRate?, clients: Int) {
        let table = BucketTable(sets: clients / (BucketTable.places - 1) + 1)
        self.state = Locked(State(rate: rate, table: table))
    }

    /// What each client may ask for; nil: everything. A new rate is in force at once; what a client has used stays used, in
    /// time: half a minute's worth is half a minute's worth of the new rate.
    package var rate: TokenRate? {
        get { self.state.withLock { $0.rate } }
        set { self.state.withLock { $0.rate = newValue } }
    }

    /// Judges a request and draws its cost, if it may come.
    ///
    /// - Parameter cost: in units; 0 asks without drawing.
    package func take(_ cost: Int, of key: Key, at now: MonotonicTime) -> Verdict {
        self.state.withLock { state in
            guard let rate = state.rate else { return .allowed }
            return state.table.withBucket(of: key.tag, at: now) { bucket in
                bucket.take(cost, at: now, rate) ? .allowed : .refused(wait: bucket.wait(at: now, rate))
            }
        }
    }

    /// Draws further cost of a request that was let through.
    package func draw(_ cost: Int, of key: Key, at now: MonotonicTime) {
        self.state.withLock { state in
            guard let rate = state.rate else { return }
            state.table.withBucket(of: key.tag, at: now) { $0.draw(cost, at: now, rate) }
        }
    }

    /// What a client has left, and when it has that much.
    package struct Standing: Hashable, Sendable {
        /// What it may ask for.
        package let rate: TokenRate
        /// The whole units that are left.
        package let units: Int
        /// How long until it is let through again; zero with a unit left.
        package let wait: Duration
    }

    /// What a client has left; nil without a limit.
    package func standing(of key: Key, at now: MonotonicTime) -> Standing? {
        self.state.withLock { state in
            guard let rate = state.rate else { return nil }
            return state.table.withBucket(of: key.tag, at: now) { bucket in
                Standing(rate: rate, units: bucket.available(at: now, rate), wait: bucket.wait(at: now, rate))
            }
        }
    }

    /// How much memory the buckets take, in bytes.
    internal var size: Int { self.state.withLock { $0.table.size } }
}
