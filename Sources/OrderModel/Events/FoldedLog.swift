// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// A log that is kept folded while entries come in any order.
///
/// It says of each entry what ``OrderFold`` says that folds the whole log for it, but the fold is kept in stretches: an entry
/// is put into its place, and the fold goes on from the stretch before it only until it is again what it was there before.
public struct FoldedLog: Sendable {
    /// Entries that follow each other, and the fold in front of them.
    private struct Stretch {
        var start: FoldMachine
        var entries: [LogEntry] = []
        /// What became of each where it stands.
        var verdicts: [Verdict] = []
        /// What became here of entries that had waited, by identifier: later than what is in `verdicts`.
        var settled = Verdicts()
    }

    /// How many entries a stretch has; up to twice as many after some were put in.
    private static let length = 8

    private let folding: OrderFold
    /// In log order; never empty, and none but the first may have no entries.
    private var stretches: [Stretch]
    private var identifiers: Set<ExactKey> = []
    /// The fold behind the last entry.
    private var end: FoldMachine
    /// What became of entries that had waited, over all stretches.
    private var settled = Verdicts()

    /// The present document.
    public private(set) var document: JSONValue
    /// How often an entry was applied, those that were applied again included.
    private(set) var steps = 0

    /// A log without entries.
    public init(base: FoldBase, _ folding: OrderFold) {
        let machine = FoldMachine(document: base.document, state: base.state, options: folding.options)
        self.folding = folding
        self.end = machine
        self.stretches = [Stretch(start: machine)]
        self.document = machine.document
    }

    /// A log that goes on from a stored result: it takes entries behind those that are in it.
    public init(after result: FoldResult, _ folding: OrderFold) {
        self.init(base: FoldBase(document: result.document, state: result.state), folding)
    }

    /// How many entries there are.
    public var count: Int { identifiers.count }

    /// The entries in log order.
    public var entries: [LogEntry] { stretches.flatMap(\.entries) }

    /// Where the last entry stands; nil without entries.
    public var last: LogPosition? { stretches.last?.entries.last?.position }

    /// What is stored: the document with what it takes to go on from it. The verdicts are left out.
    public var result: FoldResult {
        FoldResult(
            document: document,
            state: end.finalState,
            foldedTo: last,
            verdicts: Verdicts()
        )
    }

    /// Takes an entry whose answer nobody needs, for a log that is read back. Fast when entries come in log order.
    public mutating func load(_ entry: LogEntry) {
        guard identifiers.insert(ExactKey(entry.identifier)).inserted else { return }
        place(entry)
    }

    /// Brings ``document`` up to date after entries were loaded.
    public mutating func finishLoading() { document = end.document }

    /// Takes one entry. One with a known identifier is not taken again.
    ///
    /// - Parameters:
    ///   - entry: what arrived.
    ///   - shown: the document that was shown before, when it is another than ``document``: folded under other settings.
    public mutating func append(_ entry: LogEntry, shown: JSONValue? = nil) -> FoldAnswer {
        guard identifiers.insert(ExactKey(entry.identifier)).inserted else {
            return FoldAnswer(verdict: .same, changed: [])
        }
        let before = shown ?? document
        let (stretch, offset, reachesEnd) = place(entry)
        if reachesEnd { document = end.document }
        let isUntouched = !reachesEnd && shown == nil
        return folding.answer(
            changed: isUntouched ? [] : DocumentDiff.pointers(from: before, to: document),
            verdict: verdict(stretch, offset)
        ) {
            isOverruled(entry, behind: stretch, offset)
        }
    }

    /// Why an entry can't be applied at its place: what the thing that it changes would have wrong, or that it is of another
    /// type. Pointers begin at the event. Empty when nothing is in its way.
    public func complaints(about entry: LogEntry) -> [Finding] {
        guard let stretch = stretches.last(where: { $0.entries.first.map { $0.position <= entry.position } ?? false })
        else { return [] }
        var machine = stretch.start
        for other in stretch.entries {
            _ = machine.apply(other)
            if other.position == entry.position { return machine.complaints }
        }
        return []
    }

    /// Statuses that events had reported of what an edit adds, and that are further than those that the edit names and that
    /// are shown. Of each thing the newest report counts, and none that did not fit.
    public func overruledReports(by entry: LogEntry) -> [OverruledReport] {
        let additions = entry.changes.filter(\.isAddition)
        guard !additions.isEmpty,
            let stretch = stretches.last(where: { $0.entries.first.map { $0.position <= entry.position } ?? false })
        else { return [] }
        var machine = stretch.start
        for other in stretch.entries {
            guard other.position == entry.position else {
                _ = machine.apply(other)
                continue
            }
            let waited = additions.map { machine.waiting(for: $0.subject) }
            _ = machine.takeSettled()
            _ = machine.apply(entry)
            let settled = machine.takeSettled()
            return zip(additions, waited).compactMap { addition, waited in
                OverruledReport(addition, waited: waited.filter { settled[$0.entry] == .applied }, shownIn: document)
            }
        }
        return []
    }

    // MARK: Places

    /// Puts an entry into its place and folds on from there.
    ///
    /// - Returns: where it is, and whether the end of the fold may have changed.
    @discardableResult
    private mutating func place(_ entry: LogEntry) -> (stretch: Int, offset: Int, reachesEnd: Bool) {
        let last = stretches.count - 1
        if stretches[last].entries.last.map({ $0.position < entry.position }) ?? true {
            return append(behindAll: entry)
        }
        let behind = Self.partition(0, stretches.count) { index in
            stretches[index].entries.first.map { $0.position < entry.position } ?? true
        }
        var stretch = max(0, behind - 1)
        var offset = Self.partition(0, stretches[stretch].entries.count) {
            stretches[stretch].entries[$0].position < entry.position
        }
        stretches[stretch].entries.insert(entry, at: offset)
        var unsure = stretch + 1
        if stretches[stretch].entries.count > 2 * Self.length {
            let half = stretches[stretch].entries.count / 2
            let tail = Array(stretches[stretch].entries[half...])
            stretches[stretch].entries.removeSubrange(half...)
            stretches.insert(Stretch(start: stretches[stretch].start, entries: tail), at: stretch + 1)
            unsure += 1
        }
        let reachesEnd = fold(from: stretch, unsureTo: unsure)
        if offset >= stretches[stretch].entries.count {
            offset -= stretches[stretch].entries.count
            stretch += 1
        }
        return (stretch, offset, reachesEnd)
    }

    private mutating func append(behindAll entry: LogEntry) -> (stretch: Int, offset: Int, reachesEnd: Bool) {
        if stretches[stretches.count - 1].entries.count >= Self.length { stretches.append(Stretch(start: end)) }
        let last = stretches.count - 1
        stretches[last].entries.append(entry)
        steps += 1
        stretches[last].verdicts.append(end.apply(entry))
        let settledNow = end.takeSettled()
        if !settledNow.isEmpty {
            stretches[last].settled.merge(settledNow)
            settled.merge(settledNow)
        }
        return (last, stretches[last].entries.count - 1, true)
    }

    /// Folds from a stretch on, until the fold is what it was.
    ///
    /// - Parameter unsure: the first stretch whose `start` is known to be what the old fold was there.
    /// - Returns: false when the end is what it was.
    private mutating func fold(from first: Int, unsureTo unsure: Int) -> Bool {
        var machine = stretches[first].start
        var settles = false
        var reachesEnd = true
        for index in first..<stretches.count {
            if index >= unsure, machine.isSame(as: stretches[index].start) {
                reachesEnd = false
                break
            }
            stretches[index].start = machine
            var verdicts: [Verdict] = []
            verdicts.reserveCapacity(stretches[index].entries.count)
            steps += stretches[index].entries.count
            var settledHere = Verdicts()
            for entry in stretches[index].entries {
                verdicts.append(machine.apply(entry))
                settledHere.merge(machine.takeSettled())
            }
            settles = settles || settledHere != stretches[index].settled
            stretches[index].verdicts = verdicts
            stretches[index].settled = settledHere
        }
        if settles {
            settled = Verdicts()
            for stretch in stretches where !stretch.settled.isEmpty { settled.merge(stretch.settled) }
        }
        if reachesEnd { end = machine }
        return reachesEnd
    }

    /// The first number from which on a condition no longer holds.
    private static func partition(_ lowest: Int, _ highest: Int, _ holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowest, highest)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Answers

    private func verdict(_ stretch: Int, _ offset: Int) -> Verdict {
        if !settled.isEmpty, let later = settled[stretches[stretch].entries[offset].identifier] { return later }
        return stretches[stretch].verdicts[offset]
    }

    private func isOverruled(_ entry: LogEntry, behind stretch: Int, _ offset: Int) -> Bool {
        let written = Dictionary(grouping: entry.changes, by: \.subject)
        for index in stretch..<stretches.count {
            let from = index == stretch ? offset + 1 : 0
            for place in from..<stretches[index].entries.count
            where OrderFold.overrules(stretches[index].entries[place], written, verdict: verdict(index, place)) {
                return true
            }
        }
        return false
    }
}
