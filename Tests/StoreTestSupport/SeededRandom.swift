// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Random choices that can be made again: `TEST_SEED` repeats those of a run that failed, which printed its own.
///
/// A stream for each task: what one does does not depend on how far the others are.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    /// The seed of this run.
    package static let seed: UInt64 = {
        let given = unsafe getenv("TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 1...UInt64(UInt32.max))
        print("random choices of this run: TEST_SEED=\(seed)")
        return seed
    }()

    private var state: UInt64

    /// A stream of its own for each sequence of numbers.
    package init(_ stream: Int...) {
        self.state = Self.seed
        for number in stream { self.state = self.next() &+ UInt64(truncatingIfNeeded: number) }
    }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
