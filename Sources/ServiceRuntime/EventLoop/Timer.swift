// SPDX-License-Identifier: Apache-2.0

/// A piece of work at a moment, on a loop. Touched on the loop's thread only.
package final class Timer {
    /// When it is due.
    package let deadline: MonotonicTime
    internal let sequence: UInt64
    internal var body: (() -> Void)?
    /// What is done instead when the loop ends before.
    internal var atEnd: (() -> Void)?
    /// Where it stands in the heap; -1 when it is not in it.
    internal var position = -1
    private unowned let loop: EventLoop

    internal init(
        deadline: MonotonicTime,
        sequence: UInt64,
        loop: EventLoop,
        body: @escaping () -> Void,
        atEnd: (() -> Void)?
    ) {
        self.deadline = deadline
        self.sequence = sequence
        self.loop = loop
        self.body = body
        self.atEnd = atEnd
    }

    /// Takes it back. Nothing happens when it has fired or was cancelled before.
    package func cancel() {
        self.body = nil
        self.atEnd = nil
        if self.position >= 0 { self.loop.remove(self) }
    }

    internal func isBefore(_ other: Timer) -> Bool {
        // Equal deadlines fire in the order in which they were set.
        self.deadline == other.deadline ? self.sequence < other.sequence : self.deadline < other.deadline
    }
}

/// A binary heap of timers that know their place, so that one can be taken out of the middle.
internal struct TimerHeap {
    private var timers: [Timer] = []

    var first: Timer? { self.timers.first }
    var count: Int { self.timers.count }

    mutating func insert(_ timer: Timer) {
        timer.position = self.timers.count
        self.timers.append(timer)
        self.rise(from: timer.position)
    }

    mutating func remove(_ timer: Timer) {
        let position = timer.position
        guard position >= 0 else { return }
        timer.position = -1
        let last = self.timers.removeLast()
        if last === timer { return }
        self.timers[position] = last
        last.position = position
        self.rise(from: position)
        self.sink(from: last.position)
    }

    mutating func removeAll() -> [Timer] {
        defer { self.timers = [] }
        for timer in self.timers { timer.position = -1 }
        return self.timers
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.timers[child].isBefore(self.timers[parent]) else { return }
            self.swap(child, parent)
            child = parent
        }
    }

    private mutating func sink(from start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.timers.count {
                if self.timers[child].isBefore(self.timers[least]) { least = child }
            }
            if least == parent { return }
            self.swap(parent, least)
            parent = least
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        self.timers.swapAt(a, b)
        self.timers[a].position = a
        self.timers[b].position = b
    }
}
