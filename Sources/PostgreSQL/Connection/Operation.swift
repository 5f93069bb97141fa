// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One round trip with the server: what is sent together and answered together. Confined to its connection's loop.
internal final class Operation {
    /// A message of a pipeline that has an answer of its own.
    enum Step {
        case prepare(Statement)
        case describe(Statement)
        case execute(Statement, EncodedParameters)

        var statement: Statement {
            switch self {
            case .prepare(let statement), .describe(let statement), .execute(let statement, _): statement
            }
        }
    }

    enum Work {
        /// A pipeline that ends with a sync; an error skips the rest.
        case steps([Step])
        /// Several statements as one text.
        case script(String)
    }

    /// Why the server was asked to cancel it.
    enum Stop { case cancelled, deadline }

    /// What a finished operation left.
    typealias Outcome = Result<[QueryResult], PostgresError>

    let number: UInt64
    let work: Work
    /// Whether a cancelled task ends it. Not for COMMIT and ROLLBACK.
    let isCancellable: Bool
    /// How long it may take before the client itself ends it.
    private(set) var timeout: Duration
    /// When it has to be answered, however long others are before it on the connection.
    private let latest: MonotonicTime

    var startedAt = MonotonicTime(nanoseconds: 0)
    var deadline = MonotonicTime.distantFuture
    var stop: Stop?
    /// Whether its task was cancelled; the server is asked to cancel it once it has had a last moment.
    var isGivenUp = false
    /// Whether all answers are in and only the cancellation's own connection has not closed yet.
    var isDrained = false
    var continuation: CheckedContinuation<Outcome, Never>?
    /// A warning of class 01 came: for COMMIT that means "not on the standby".
    var hasWarning = false

    private var results: [QueryResult] = []
    private var current: QueryResult?
    private(set) var failure: PostgresError?

    init(
        number: UInt64,
        _ work: Work,
        isCancellable: Bool,
        timeout: Duration,
        latest: MonotonicTime = .distantFuture
    ) {
        self.number = number
        self.work = work
        self.isCancellable = isCancellable
        self.timeout = timeout
        self.latest = latest
    }

    /// Begins its time; false when that is over before it was sent.
    ///
    /// - Parameter least: how long one that is not cancellable may take at least: a commit that is on its way has a last
    ///   moment to be heard of.
    func begin(now: MonotonicTime, least: Duration) -> Bool {
        if self.isCancellable, self.latest <= now { return false }
        if self.latest != .distantFuture {
            self.timeout = min(self.timeout, max(self.latest - now, self.isCancellable ? .zero : least))
        }
        self.deadline = now + self.timeout
        return true
    }

    /// The name of the statement whose answer is next, for messages.
    var statementName: String? {
        guard case .steps(let steps) = self.work, self.results.count < steps.count else { return nil }
        return steps[self.results.count].statement.name
    }

    /// Whether more answers came than were asked for: the protocol is out of step.
    var isOverrun: Bool {
        guard case .steps(let steps) = self.work else { return false }
        return self.results.count > steps.count
    }

    /// Takes a result that is no error. Of several for one statement the first counts.
    func accept(_ result: QueryResult) {
        if self.current == nil { self.current = result }
    }

    /// Takes an error; the first one is the cause, what follows is its consequence.
    func accept(_ error: PostgresError) {
        if self.failure == nil { self.failure = error }
    }

    /// Takes the end of one statement's results.
    func endStep() {
        if let current = self.current { self.results.append(current) }
        self.current = nil
    }

    var outcome: Outcome {
        if let failure = self.failure { return .failure(failure) }
        if case .steps(let steps) = self.work, self.results.count != steps.count {
            return .failure(
                PostgresError(.other, "\(steps.count) statements were sent, \(self.results.count) answered")
            )
        }
        return .success(self.results)
    }
}
