// SPDX-License-Identifier: Apache-2.0

/// The system release that first understands an object or field, named by its iOS number.
public enum AppleRelease: String, Sendable, Hashable, CaseIterable, Comparable {
    /// The first release with orders (macOS 13.0).
    case ios16 = "16.0"
    /// Transactions, receipts, shipping types (macOS 14.0).
    case ios17 = "17.0"
    /// Returns (macOS 14.2).
    case ios17_2 = "17.2"
    /// Order provider (macOS 14.4).
    case ios17_4 = "17.4"

    /// Reads what people write: `ios16`, `iOS 17.2`, `17.4`. A release between two rows counts as the older one, a later
    /// one as the newest. nil when it is no release number, one that never was, or older than 16.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var rest = text.lowercased()[...]
        if rest.hasPrefix("ios") { rest = rest.dropFirst(3) }
        while rest.first == " " || rest.first == "-" { rest = rest.dropFirst() }
        let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let major = Int(parts[0]) else { return nil }
        // Numbers are years since 26, and none lay between 18 and that.
        guard (16...18).contains(major) || (26...39).contains(major) else { return nil }
        var minor = 0
        if parts.count > 1 {
            guard let number = Int(parts[1]), (0...99).contains(number) else { return nil }
            minor = number
        }
        switch (major, minor) {
        case (16, _): self = .ios16
        case (17, 0...1): self = .ios17
        case (17, 2...3): self = .ios17_2
        default: self = .ios17_4
        }
    }

    /// Older before newer.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
