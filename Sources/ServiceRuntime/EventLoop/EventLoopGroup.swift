// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A fixed number of loops, usually one a core.
package final class EventLoopGroup: Sendable {
    /// The loops, in the order in which they were started.
    package let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts `count` loops named `name-0`, `name-1`, ….
    package init(count: Int, name: String = "loop") throws(SystemError) {
        var loops: [EventLoop] = []
        for index in 0..<max(1, count) { loops.append(try EventLoop(name: "\(name)-\(index)")) }
        self.loops = loops
    }

    /// The next loop, round robin.
    package func next() -> EventLoop {
        let turn = self.turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return self.loops[Int(UInt(bitPattern: turn) % UInt(self.loops.count))]
    }

    /// Ends all loops and waits for their threads.
    package func shutdown() async {
        for loop in self.loops { await loop.shutdown() }
    }
}
