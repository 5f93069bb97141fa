// SPDX-License-Identifier: Apache-2.0

/// Numbers that are the same in every run of a seed, so that a failure can be repeated. SplitMix64.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    package mutating func next() -> UInt64 {
        self.state = self.state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// One of several, each as likely as the others.
    package mutating func one<Element>(of elements: [Element]) -> Element {
        elements[Int(self.next() % UInt64(elements.count))]
    }

    /// True so many times in a hundred.
    package mutating func chance(_ percent: UInt64) -> Bool { self.next() % 100 < percent }
}
