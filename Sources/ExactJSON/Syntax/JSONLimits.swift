// SPDX-License-Identifier: Apache-2.0

/// Bounds on what the parser takes, so that a hostile text costs no more than an honest one of its size.
public struct JSONLimits: Sendable, Hashable {
    /// The largest text, in bytes.
    public var bytes: Int
    /// How deep arrays and objects may nest: 1 for a flat object.
    public var depth: Int
    /// How many values a text may hold, counting every element and member; a value takes some 50 bytes in memory.
    public var values: Int

    /// 8 MiB, 64 levels, a million values.
    public static let standard = JSONLimits()

    /// For what was taken within the standard bounds, and has been wrapped or laid together since: it has to be readable
    /// whatever it has grown to.
    package static let stored = JSONLimits(bytes: 64 << 20, depth: 128, values: 8_000_000)

    /// Makes a set of bounds.
    /// - Parameters:
    ///   - bytes: The largest text, in bytes.
    ///   - depth: How deep arrays and objects may nest. Above a few hundred the thread's stack becomes the limit.
    ///   - values: How many values a text may hold.
    public init(bytes: Int = 8 << 20, depth: Int = 64, values: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}
