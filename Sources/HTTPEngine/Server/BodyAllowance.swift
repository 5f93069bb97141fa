// SPDX-License-Identifier: Apache-2.0

/// How many bytes of request bodies one connection holds, and its share of what the listener may hold.
///
/// The share is taken in steps, and small bodies need none: they would only make every request pay for the lock.
struct BodyAllowance {
    /// What a connection holds without asking.
    private static let free = 4 * 1024
    private static let step = 64 * 1024

    private var held = 0
    private var reserved = 0

    /// Counts bytes in.
    ///
    /// - Returns: false, and nothing is counted, when the listener or the address holds as much as it may.
    mutating func hold(_ count: Int, _ admission: Admission, _ peer: PeerAddress) -> Bool {
        let lacking = self.held + count - Self.free - self.reserved
        if lacking > 0 {
            let more = (lacking + Self.step - 1) / Self.step * Self.step
            guard admission.reserve(more, for: peer) else { return false }
            self.reserved += more
        }
        self.held += count
        return true
    }

    /// Counts them out.
    mutating func release(_ count: Int, _ admission: Admission, _ peer: PeerAddress) {
        self.held -= count
        let spare = self.reserved - max(0, self.held - Self.free)
        guard spare > 0, spare >= 4 * Self.step || self.held <= Self.free else { return }
        admission.release(spare, for: peer)
        self.reserved -= spare
    }

    /// Gives back, at the connection's end, all but what its handlers still hold.
    mutating func end(handlersHold count: Int, _ admission: Admission, _ peer: PeerAddress) {
        self.release(self.held - count, admission, peer)
    }
}
