// SPDX-License-Identifier: Apache-2.0

/// The names that an archive has so far: a few are compared one by one, which is cheaper than hashing each.
///
/// Names that only look alike are one here, as they are to file systems. That is bearable because no name is longer than
/// ``EntryName/maximumLength``: Swift's comparison takes the square of a run of accents.
struct EntryNames: Sendable {
    private static let compared = 16
    private var few: [String] = []
    // short: EntryName.fault lets no longer name come here.
    private var many: Set<String> = []

    /// How many names there are.
    private(set) var count = 0

    /// Adds a name; false when it is there already.
    mutating func insert(_ name: String) -> Bool {
        if few.contains(name) { return false }
        if few.count < Self.compared {
            few.append(name)
        } else if !many.insert(name).inserted {
            return false
        }
        count += 1
        return true
    }
}
