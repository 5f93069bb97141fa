// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime

/// When the request that a task works for has to be answered: one moment for all that it asks of the database, whether it waits
/// for a connection, for an answer, or to try again.
///
/// Without it each of these has a time of its own, and a server that falls silent costs their sum.
package enum RequestTime {
    /// nil: no request waits.
    @TaskLocal package static var end: MonotonicTime?

    /// Runs a closure that has to be through with the database after a duration. Inside another one, the earlier end counts.
    package static func limited<Result>(
        to duration: Duration,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let end = min(RequestTime.end ?? .distantFuture, MonotonicTime.now() + duration)
        return try await RequestTime.$end.withValue(end) { try await body() }
    }

    /// Runs a closure that serves more than the request that it was begun in.
    package static func unlimited<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await RequestTime.$end.withValue(nil) { try await body() }
    }

    /// Whether the time is over.
    package static var isOver: Bool { RequestTime.end.map { $0 <= MonotonicTime.now() } ?? false }

    /// A duration, or what is left of the request's time if that is less.
    internal static func left(of duration: Duration) -> Duration {
        guard let end = RequestTime.end else { return duration }
        return min(duration, max(.zero, end - MonotonicTime.now()))
    }
}
