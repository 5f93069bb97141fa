// SPDX-License-Identifier: Apache-2.0

/// Something that runs as long as the process does: a listener, a pool, a worker.
package protocol Service: Sendable {
    /// The name that logs and errors call it by.
    var name: String { get }

    /// Whether it may drain at the same time as those started just before and after it of which this holds too: nothing of
    /// them needs the others. False unless said.
    var endsWithNeighbours: Bool { get }

    /// Runs until `shutdown` is fired, then drains what is under way and returns.
    ///
    /// When the task is cancelled, the time for draining is over: return at once.
    func run(shutdown: Signal) async throws
}

extension Service {
    package var endsWithNeighbours: Bool { false }
}
