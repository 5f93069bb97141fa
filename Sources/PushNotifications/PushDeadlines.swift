// SPDX-License-Identifier: Apache-2.0

/// How long a push worker waits for APNs. Together they stay well below a claim's lease of 30 s.
package struct PushDeadlines: Sendable {
    /// For a connection: name look-up, TCP, TLS and the first SETTINGS.
    package var connect: Duration = .seconds(5)
    /// For the answer to a push, the wait for a free stream included.
    package var answer: Duration = .seconds(10)
    /// For the answer to a PING.
    package var ping: Duration = .seconds(3)
    /// After how long without a push a connection must show by a PING that it lives.
    package var idle: Duration = .seconds(60)
    /// How old a connection must be to be replaced because it refused a stream: opening many in a row counts as an attack.
    package var renewal: Duration = .seconds(10)
    /// For the answers to pushes under way when the worker is to stop; then their tickets are handed back.
    package var stop: Duration = .milliseconds(100)

    /// The defaults.
    package init() {}
}
