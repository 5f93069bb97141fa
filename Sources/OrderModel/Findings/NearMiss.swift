// SPDX-License-Identifier: Apache-2.0

/// Finds what a misspelt name most likely meant.
enum NearMiss {
    /// The candidate closest to `name`, when it is close enough to be worth saying: the same letters in another case, or
    /// at most a third of them different.
    static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        let lowered = Array(name.lowercased().utf8.prefix(64))
        var best: String?
        var bestDistance = max(1, min(6, lowered.count / 3)) + 1
        for candidate in candidates where candidate != name {
            let other = Array(candidate.lowercased().utf8.prefix(64))
            if abs(other.count - lowered.count) >= bestDistance { continue }
            let distance = distance(lowered, other)
            if distance < bestDistance {
                best = candidate
                bestDistance = distance
            }
        }
        return best
    }

    /// Edits (insert, delete, replace, swap of neighbours) between two texts.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left.isEmpty || right.isEmpty { return left.count + right.count }
        var before = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row] + [Int](repeating: 0, count: right.count)
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                var value = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    value = min(value, before[column - 2] + 1)
                }
                current[column] = value
            }
            before = last
            last = current
        }
        return last[right.count]
    }
}
