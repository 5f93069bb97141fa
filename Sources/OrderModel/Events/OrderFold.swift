// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// How a log is folded.
public struct FoldOptions: Sendable, Hashable {
    /// Whether the order completes by itself when all its fulfillments have ended.
    public var completeWhenFulfilled: Bool
    /// How the results are judged.
    public var validation: ValidationOptions

    /// The default leaves the order status to those who state it.
    public init(
        completeWhenFulfilled: Bool = false,
        validation: ValidationOptions = .init(isServiceFilled: true)
    ) {
        self.completeWhenFulfilled = completeWhenFulfilled
        self.validation = validation
    }
}

/// A document as the log makes it.
///
/// State and position belong to the log, not to the document alone: they have to be stored with every entry, also with one
/// that left the document as it was, or the next entry goes on without it.
public struct FoldResult: Sendable, Hashable {
    /// The document as it is shown.
    public let document: JSONValue
    /// What it takes to go on from here.
    public let state: FoldState
    /// The last entry that is in the document; nil when there is none beyond the base.
    public let foldedTo: LogPosition?
    /// What became of entries, by identifier: of all of them after a fold; after an advance, of the new one and of those
    /// that had waited for it.
    public let verdicts: Verdicts

    /// A result that was stored: document, ``FoldState/text`` and ``LogPosition/text``. nil when state or position are
    /// unreadable or the state asks for the log; fold the log then.
    public init?(document: JSONValue, stateText: String?, foldedToText: String?) {
        if let stateText, !stateText.isEmpty {
            guard let state = FoldState(text: stateText) else { return nil }
            self.state = state
        } else {
            self.state = FoldState()
        }
        if let foldedToText, !foldedToText.isEmpty {
            guard let position = LogPosition(text: foldedToText) else { return nil }
            self.foldedTo = position
        } else {
            self.foldedTo = nil
        }
        self.document = document
        self.verdicts = Verdicts()
    }

    init(document: JSONValue, state: FoldState, foldedTo: LogPosition?, verdicts: Verdicts) {
        self.document = document
        self.state = state
        self.foldedTo = foldedTo
        self.verdicts = verdicts
    }
}

/// The document is what folding the log of events and edits, in log order, makes of the base. It depends on the set of
/// entries alone, not on the order of their arrival.
public struct OrderFold: Sendable {
    /// How it is done.
    public let options: FoldOptions

    /// A fold with its options.
    public init(_ options: FoldOptions = .init()) { self.options = options }

    /// Folds a whole log, given in any order. Entries of the same identifier count once.
    public func fold(_ base: FoldBase, _ entries: [LogEntry]) -> FoldResult {
        var machine = FoldMachine(document: base.document, state: base.state, options: options)
        var last: LogPosition?
        var verdicts = Verdicts()
        for entry in Self.sorted(entries) {
            let verdict = machine.apply(entry)
            verdicts.merge(machine.takeSettled())
            verdicts[entry.identifier] = verdict
            last = entry.position
        }
        return FoldResult(
            document: machine.document,
            state: machine.finalState,
            foldedTo: last,
            verdicts: verdicts
        )
    }

    /// Applies one entry onto a stored result, when its place is behind all others: the same as folding the whole log.
    ///
    /// - Returns: nil when the entry belongs further back, or the state is too large to be kept; fold the log then.
    public func advance(_ result: FoldResult, _ entry: LogEntry) -> FoldResult? {
        if let last = result.foldedTo, !(last < entry.position) { return nil }
        if result.state.isTooLarge { return nil }
        var machine = FoldMachine(document: result.document, state: result.state, options: options)
        let verdict = machine.apply(entry)
        var verdicts = machine.takeSettled()
        verdicts[entry.identifier] = verdict
        return FoldResult(
            document: machine.document,
            state: machine.finalState,
            foldedTo: entry.position,
            verdicts: verdicts
        )
    }

    /// What the arrival of `entry` did: compares the documents before and after it.
    ///
    /// - Parameters:
    ///   - entry: what arrived.
    ///   - before: the document before.
    ///   - after: the result with it.
    ///   - log: all entries, when the log was folded; nothing newer can overrule an entry that was advanced.
    public func answer(
        to entry: LogEntry,
        before: JSONValue,
        after: FoldResult,
        log: [LogEntry] = []
    ) -> FoldAnswer {
        answer(
            changed: DocumentDiff.pointers(from: before, to: after.document),
            verdict: after.verdicts[entry.identifier]
        ) {
            let written = Dictionary(grouping: entry.changes, by: \.subject)
            return log.contains { later in
                entry.position < later.position
                    && Self.overrules(later, written, verdict: after.verdicts[later.identifier])
            }
        }
    }

    /// The answer to an entry: where the document changed, or what the fold says about the entry, or whether newer ones
    /// overrule it.
    func answer(changed: [JSONPointer], verdict: Verdict?, isOverruled: () -> Bool) -> FoldAnswer {
        if !changed.isEmpty { return FoldAnswer(verdict: .applied, changed: changed) }
        switch verdict {
        case .waiting?, .typeMismatch?, .invalidHere?, .final?:
            return FoldAnswer(verdict: verdict ?? .same, changed: [])
        default: return FoldAnswer(verdict: isOverruled() ? .stale : .same, changed: [])
        }
    }

    /// Folds entries into the base that are older than 90 days, or beyond the newest 200 and not ahead of the clock: what
    /// is told in time must find its place, though a sender's fast clock has filled the log.
    ///
    /// - Parameters:
    ///   - base: the present base.
    ///   - entries: the whole log.
    ///   - now: the clock in microseconds since 1970.
    /// - Returns: nil when there is nothing to fold away. Folding what is kept onto the new base gives the same document.
    public func compact(_ base: FoldBase, _ entries: [LogEntry], now: Int64) -> FoldCompaction? {
        let sorted = Self.sorted(entries)
        let oldest = now - FoldCompaction.age
        var cut = sorted.firstIndex { $0.occurredAt >= oldest } ?? sorted.count
        let past = sorted.firstIndex { $0.occurredAt >= now } ?? sorted.count
        cut = min(max(cut, sorted.count - FoldCompaction.keptEntries), past)
        // Entries of one moment stay together, so that the moment tells on which side an entry belongs.
        let wished = cut
        while cut > 0, cut < sorted.count, sorted[cut].occurredAt == sorted[cut - 1].occurredAt { cut -= 1 }
        if cut == 0 {
            cut = wished
            while cut > 0, cut < sorted.count, sorted[cut].occurredAt == sorted[cut - 1].occurredAt { cut += 1 }
        }
        guard cut > 0 else { return nil }
        let result = fold(base, Array(sorted[..<cut]))
        var state = result.state
        state.waiting = Array(state.waiting.suffix(FoldCompaction.keptWaiting))
        return FoldCompaction(
            base: FoldBase(document: result.document, state: state),
            baseUntil: sorted[cut - 1].occurredAt + 1,
            folded: sorted[..<cut].map(\.identifier)
        )
    }

    static func sorted(_ entries: [LogEntry]) -> [LogEntry] {
        // By bytes, as in the store: names that only look alike are two.
        var seen: Set<ExactKey> = []
        return entries.filter { seen.insert(ExactKey($0.identifier)).inserted }.sorted { $0.position < $1.position }
    }

    /// Whether a later entry writes a member that an earlier one wrote, or takes its thing away.
    static func overrules(
        _ later: LogEntry,
        _ written: [Change.Subject: [Change]],
        verdict: Verdict?
    ) -> Bool {
        switch verdict {
        case .waiting?, .typeMismatch?, .invalidHere?: return false
        default: break
        }
        return later.changes.contains { change in
            (written[change.subject] ?? []).contains { other in
                guard let members = change.members else { return true }
                return (other.members ?? JSONObject()).contains {
                    members[$0.name] != nil && !$0.name.isExactly("fulfillmentType")
                }
            }
        }
    }
}

/// A base with old entries folded into it.
public struct FoldCompaction: Sendable, Hashable {
    /// Entries older than this, in microseconds, are folded away: 90 days.
    public static let age: Int64 = 90 * 86_400 * 1_000_000
    /// This many entries are kept.
    public static let keptEntries = 200
    static let keptWaiting = 64

    /// The new base.
    public let base: FoldBase
    /// Events that occurred before this moment, in microseconds since 1970, are recorded as stale.
    public let baseUntil: Int64
    /// The entries that are in the base now, by identifier.
    public let folded: [String]
}
