// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// What became of a log entry. The raw values are what the Merchant API says as `reason`.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// It changed the document.
    case applied
    /// Every member is overruled by newer entries, or it is older than what the log still holds.
    case stale
    /// Its status comes after a final one, which only issue, cancelled and corrections take back.
    case final
    /// It is about something that is not there yet; it counts as soon as that begins.
    case waiting
    /// It names another fulfillment type than the one that is there.
    case typeMismatch = "type-mismatch"
    /// At its place in the log the result would be no valid order.
    case invalidHere = "invalid-here"
    /// The document said so already.
    case same
}

/// What the arrival of one entry did to the document.
public struct FoldAnswer: Sendable, Hashable {
    /// What became of it. ``Verdict/applied`` if and only if the document changed.
    public let verdict: Verdict
    /// Where the document changed: one pointer a member, or a whole thing that came or went.
    public let changed: [JSONPointer]

    /// Whether the document changed.
    public var isApplied: Bool { verdict == .applied }

    /// The answer to an event from before ``FoldCompaction/baseUntil``, which the log can't place any more.
    public static let behindBase = FoldAnswer(verdict: .stale, changed: [])
}
