// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Finds what a misspelt name most likely meant, among names that are prepared once.
struct NearMiss: Sendable {
    /// How many edit distances are computed for all names together: who misspells more has another reason.
    private static let comparisonLimit = 20_000

    private let candidates: [(text: String, letters: [UInt8])]
    private var comparisons = 0

    init(_ candidates: some Sequence<String>) {
        self.candidates = candidates.map { ($0, Self.letters($0)) }
    }

    /// The candidate closest to `name`, for one name among a few.
    static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        var search = NearMiss(candidates)
        return search.find(name)
    }

    /// The candidate closest to `name`, when it is close enough to be worth saying: the same letters in another case, or
    /// at most a third of them different.
    mutating func find(_ name: String) -> String? {
        let lowered = Self.letters(name)
        var best: String?
        var bestDistance = max(1, min(6, lowered.count / 3)) + 1
        for (candidate, letters) in candidates where !candidate.isExactly(name) {
            if abs(letters.count - lowered.count) >= bestDistance { continue }
            if comparisons == Self.comparisonLimit { return best }
            comparisons += 1
            if let distance = Self.distance(lowered, letters, limit: bestDistance - 1) {
                best = candidate
                bestDistance = distance
            }
        }
        return best
    }

    private static func letters(_ text: String) -> [UInt8] {
        Array(String(text.unicodeScalars.prefix(64)).lowercased().utf8.prefix(64))
    }

    /// Edits (insert, delete, replace, swap of neighbours) between two texts, or nil when it takes more than `limit`.
    /// Only places near the diagonal are looked at: others are farther away by themselves.
    static func distance(_ left: [UInt8], _ right: [UInt8], limit: Int) -> Int? {
        if abs(left.count - right.count) > limit { return nil }
        // What both begin with costs nothing: keys of one file often begin alike.
        var start = 0
        while start < min(left.count, right.count), left[start] == right[start] { start += 1 }
        let left = Array(left[start...])
        let right = Array(right[start...])
        if left.isEmpty || right.isEmpty { return left.count + right.count }
        let far = limit + 1
        var before = [Int](repeating: far, count: right.count + 1)
        var last = (0...right.count).map { min($0, far) }
        var current = before
        var lastLeast = 0
        for row in 1...left.count {
            let first = max(1, row - limit)
            let end = min(right.count, row + limit)
            // Three rows take turns: a new one each time would cost more than what is put into it.
            for column in current.indices { current[column] = far }
            if first == 1 { current[0] = min(row, far) }
            var least = current[0]
            if first <= end {
                for column in first...end {
                    let cost = left[row - 1] == right[column - 1] ? 0 : 1
                    var value = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost, far)
                    if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                        value = min(value, before[column - 2] + 1)
                    }
                    current[column] = value
                    least = min(least, value)
                }
            }
            // A swap reaches back two rows.
            if least > limit, lastLeast >= limit { return nil }
            swap(&before, &last)
            swap(&last, &current)
            lastLeast = least
        }
        return last[right.count] > limit ? nil : last[right.count]
    }
}
