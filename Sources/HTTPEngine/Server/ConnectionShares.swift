// SPDX-License-Identifier: Apache-2.0

/// Divides a process's descriptors among its listeners.
///
/// A connection is a descriptor. When the process has none left, no listener can accept, whoever took them; so each has a
/// bound of its own, and all of them together leave some for everything else.
package enum ConnectionShares {
    /// How many connections each listener may have.
    ///
    /// - Parameters:
    ///   - wanted: how many each would have if there were enough.
    ///   - descriptors: how many the process may have open.
    ///   - kept: those that are no listener's: databases, pushes, files, the listeners themselves.
    /// - Returns: as many as wanted; or, when there are too few for all, equal parts of what there is. What one doesn't want
    ///   of its part is the others'.
    package static func divide(_ wanted: [Int], descriptors: Int, kept: Int) -> [Int] {
        var left = max(0, descriptors - kept)
        if wanted.reduce(0, +) <= left { return wanted }
        var shares = wanted
        var open = Array(wanted.indices)
        // Who wants little goes first: one that wants less than its equal part leaves the rest to the others.
        while let small = open.first(where: { wanted[$0] <= left / open.count }) {
            left -= wanted[small]
            open.removeAll { $0 == small }
        }
        // Nobody is left without any: a listener that accepts nothing is no listener.
        for index in open { shares[index] = max(1, left / open.count) }
        return shares
    }
}
