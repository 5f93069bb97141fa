// SPDX-License-Identifier: Apache-2.0

/// The nearest of some known words to one that nobody knows.
package enum Suggestion {
    /// The known word that differs least, when it differs little enough to be meant; nil otherwise.
    package static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        let wanted = Array(word.lowercased().utf8.prefix(64))
        var best: (distance: Int, word: String)?
        for candidate in known {
            let distance = self.distance(wanted, Array(candidate.lowercased().utf8.prefix(64)))
            if distance <= max(1, wanted.count / 3), distance < best?.distance ?? Int.max {
                best = (distance, candidate)
            }
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
