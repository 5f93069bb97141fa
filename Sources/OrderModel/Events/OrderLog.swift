// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// One order's log in memory: takes entries in any order of arrival and answers each.
///
/// The store keeps its parts in rows and calls ``OrderFold`` directly; this is the same in one value, for those who have the
/// whole log at hand.
public struct OrderLog: Sendable {
    /// What the log is folded onto.
    public private(set) var base: FoldBase
    /// The entries, in order of arrival.
    public private(set) var entries: [LogEntry]
    /// The present document.
    public private(set) var result: FoldResult
    /// Events from before this moment are stale; in microseconds since 1970.
    public private(set) var baseUntil: Int64?
    private let folding: OrderFold

    /// A log with what is in it so far.
    public init(base: FoldBase, entries: [LogEntry] = [], options: FoldOptions = .init()) {
        self.base = base
        self.entries = entries
        self.folding = OrderFold(options)
        self.result = folding.fold(base, entries)
    }

    /// The present document.
    public var document: JSONValue { result.document }

    /// Takes one entry. One with a known identifier is not taken again.
    public mutating func append(_ entry: LogEntry) -> FoldAnswer {
        if entries.contains(where: { ExactKey($0.identifier) == ExactKey(entry.identifier) }) {
            return FoldAnswer(verdict: .same, changed: [])
        }
        if let baseUntil, entry.occurredAt < baseUntil { return .behindBase }
        let before = result.document
        entries.append(entry)
        if let next = folding.advance(result, entry) {
            result = next
            return folding.answer(to: entry, before: before, after: next)
        }
        result = folding.fold(base, entries)
        return folding.answer(to: entry, before: before, after: result, log: entries)
    }

    /// Folds old entries into the base; the document stays what it is.
    public mutating func compact(now: Int64) {
        guard let compaction = folding.compact(base, entries, now: now) else { return }
        base = compaction.base
        baseUntil = compaction.baseUntil
        let folded = Set(exactly: compaction.folded)
        entries.removeAll { folded.contains(ExactKey($0.identifier)) }
    }
}
