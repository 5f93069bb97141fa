// SPDX-License-Identifier: Apache-2.0

/// The nearest of some known words to one that nobody knows.
package enum Suggestion {
    /// The known word that differs least, when it differs little enough to be meant; nil otherwise.
    package static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        self.nearest(among: known.map { Reading(parts: [(word, $0)], word: $0) })
    }

    /// A word taken for a known one.
    internal struct Reading {
        /// What of it is compared with what of the known word; what is free to choose stands in none of them.
        var parts: [(written: String, known: String)]
        /// The word as it should have been.
        var word: String
    }

    /// The word of the reading that asks for the fewest changes, when they are few enough in each of its parts.
    internal static func nearest(among readings: [Reading]) -> String? {
        var best: (distance: Int, word: String)?
        for reading in readings {
            var sum = 0
            let isNear = reading.parts.allSatisfy { written, known in
                let wanted = Array(written.lowercased().utf8.prefix(64))
                let distance = self.distance(wanted, Array(known.lowercased().utf8.prefix(64)))
                sum += distance
                return distance <= max(1, wanted.count / 3)
            }
            if isNear, sum < best?.distance ?? Int.max { best = (sum, reading.word) }
        }
        return best?.word
    }

    /// How many letters must be changed, put in, taken out or swapped with their neighbour.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1] + [Int](repeating: 0, count: b.count)
            for j in b.indices {
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
