// SPDX-License-Identifier: Apache-2.0

/// What a descriptor is ready for, or what one wants to hear of.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes, an end of file or a connection can be read.
    package static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    package static let writable = Readiness(rawValue: 2)
    /// The other side is gone or the descriptor is in error. Reported whether asked for or not.
    package static let hangup = Readiness(rawValue: 4)
}

/// Who is told, on the loop's thread, that a descriptor is ready.
package protocol ReadinessHandler: AnyObject {
    /// The descriptor of a watch became ready. Level-triggered: it is told again while the state lasts.
    func ready(_ readiness: Readiness)
}

/// One descriptor's place in a loop's epoll set. Owned by the loop; touched on its thread only.
package final class Watch {
    /// The descriptor; the watch does not own it.
    package let descriptor: Int32
    /// What the handler is told of now.
    package internal(set) var interest: Readiness
    internal let slot: Int
    internal let generation: UInt32
    internal var handler: (any ReadinessHandler)?

    internal init(
        descriptor: Int32,
        interest: Readiness,
        slot: Int,
        generation: UInt32,
        handler: any ReadinessHandler
    ) {
        self.descriptor = descriptor
        self.interest = interest
        self.slot = slot
        self.generation = generation
        self.handler = handler
    }
}
