// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Where an entry stands in an order's log. The place depends on the entry alone, not on when it arrived, so every order of
/// arrival ends in the same document.
public struct LogPosition: Sendable, Hashable, Comparable {
    /// When it happened, in microseconds since 1970.
    public let occurredAt: Int64
    /// Edits by PATCH and PUT come after events of the same moment.
    let isEdit: Bool
    /// Corrections come after other entries of the same moment.
    let isCorrection: Bool
    /// How far the status is that the entry reports; entries without one come last.
    let progress: Int
    /// Settles the rest, byte by byte.
    let identifier: String

    /// Earlier in the log first.
    public static func < (left: Self, right: Self) -> Bool {
        if left.occurredAt != right.occurredAt { return left.occurredAt < right.occurredAt }
        if left.isEdit != right.isEdit { return !left.isEdit }
        if left.isCorrection != right.isCorrection { return !left.isCorrection }
        if left.progress != right.progress { return left.progress < right.progress }
        return left.identifier.utf8.lexicographicallyPrecedes(right.identifier.utf8)
    }

    /// Whether neither stands before the other: identifiers are compared byte by byte here, too.
    public static func == (left: Self, right: Self) -> Bool {
        left.occurredAt == right.occurredAt && left.isEdit == right.isEdit && left.isCorrection == right.isCorrection
            && left.progress == right.progress && left.identifier.isExactly(right.identifier)
    }

    /// Hashes what `==` compares, the status aside.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(occurredAt)
        hasher.combine(isEdit)
        hasher.combine(isCorrection)
        hasher.combine(ExactKey(identifier))
    }

    init(occurredAt: Int64, isEdit: Bool, isCorrection: Bool, progress: Int, identifier: String) {
        self.occurredAt = occurredAt
        self.isEdit = isEdit
        self.isCorrection = isCorrection
        self.progress = progress
        self.identifier = identifier
    }

    /// The position as the store keeps it beside the document.
    public var text: String { "\(occurredAt) \(isEdit ? 1 : 0) \(isCorrection ? 1 : 0) \(progress) \(identifier)" }

    /// Reads back ``text``; nil when it is no position.
    public init?(text: String) {
        // By bytes: a mark at the start of the identifier would combine with the blank in front of it.
        let parts = text.utf8.split(separator: 0x20, maxSplits: 4, omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 5, let occurredAt = Int64(parts[0]), let progress = Int(parts[3]) else { return nil }
        self.init(
            occurredAt: occurredAt,
            isEdit: parts[1] == "1",
            isCorrection: parts[2] == "1",
            progress: progress,
            identifier: String(parts[4])
        )
    }
}
