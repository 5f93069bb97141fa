// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ServiceRuntime

/// One order while its changes are made: what was read under its lock, and what is to be written.
///
/// The changes of a request are made one after the other in memory; only the log may have to be read in between.
struct OrderDraft {
    /// Reads the whole log of the order, when a fold needs it.
    typealias LogReader = () async throws -> [LogEntry]

    /// An entry for the log, with its answer.
    struct NewEntry {
        let index: Int
        let entry: LogEntry
        let fingerprint: [UInt8]
        let answer: FoldAnswer
        /// Why it could not be applied where it stands.
        var complaints: [Finding] = []

        /// What the answer says beside its verdict, as it is stored: pointers, and findings as objects.
        var told: [JSONValue] { answer.changed.map { .string($0.description) } + complaints.map(\.json) }
    }

    let locked: LockedOrder
    let options: ChangeOptions
    /// The document as it was.
    let original: JSONValue
    /// New entries for the log, with their places in the request.
    private(set) var entries: [NewEntry] = []
    private var entryByIndex: [Int: Int] = [:]
    private var entryByEvent: [EventIdentifier: Int] = [:]
    /// Answers to what had come before, by place in the request.
    private(set) var duplicates: [Int: LockedOrder.KnownEntry] = [:]
    /// Warnings about documents, by place in the request.
    private(set) var findings: [Int: [Finding]] = [:]
    /// Own files put (a file) or taken away (nil).
    private(set) var files: [String: OrderFile?] = [:]  // short: PackagePaths and locales, which are short ASCII.
    /// Own strings put (a table) or taken away (nil).
    private(set) var strings: [String: JSONObject?] = [:]  // short: PackagePaths and locales, which are short ASCII.
    /// Whether files are to be pinned anew though no document changed.
    private(set) var repins = false
    /// What made the revision, for the history.
    private(set) var cause: String?
    /// Places in the request that are changes of document or files.
    private(set) var changeIndexes: Set<Int> = []
    /// The latest time that an entry of this order got from the service; nil when each has brought its own.
    private(set) var stampedAt: Int64?
    /// What the log is folded to; nil before the first entry, and the state as stored may not allow going on.
    private var log: FoldedLog?
    /// Whether `log` has all entries, not only those behind what is stored.
    private var isWhole = false
    /// Where the stored fold stands; nil when it can't be gone on from.
    private let start: FoldResult?
    /// The document that is shown until an entry is folded.
    private var shown: JSONValue?
    /// Whether it is this request's turn to look at the length of the log.
    private(set) var looksAtLength = false

    private let baseText: String
    private let baseUntil: Moment?
    private let fold: OrderFold

    init(_ locked: LockedOrder, _ options: ChangeOptions) throws {
        guard let text = locked.text else {
            throw StoreError(.corrupt, "An order has no document; run walletorders doctor.", order: locked.key)
        }
        self.locked = locked
        self.options = options
        self.baseText = text.base
        self.baseUntil = text.baseUntil
        self.stampedAt = text.stampedAt?.microseconds
        let document = try stored { try JSONValue(parsing: Array(text.document.utf8), limits: .stored) }
        self.original = document
        self.fold = options.fold
        self.shown = document
        self.start = FoldResult(document: document, stateText: text.state, foldedToText: text.foldedTo)
    }

    /// The document as it is with the changes made so far.
    var document: JSONValue { shown ?? log?.document ?? original }

    /// Where the fold stands, as it is stored.
    var foldTexts: (foldedTo: String, state: String) {
        guard shown == nil, let result = log?.result else {
            return (locked.text?.foldedTo ?? "", locked.text?.state ?? "")
        }
        return (result.foldedTo?.text ?? start?.foldedTo?.text ?? "", result.state.text)
    }

    /// The entry that a place in the request made.
    func entry(at index: Int) -> NewEntry? { entryByIndex[index].map { entries[$0] } }

    /// Whether the document is another, be it only in how a number is written.
    var documentChanged: Bool { !document.isSpelled(as: original) }
    var foldMoved: Bool { !entries.isEmpty }
    var touchesFiles: Bool { !files.isEmpty || !strings.isEmpty || repins }

    /// The server's time for what has none, rising by at least 1 µs within an order, and never in what is folded away: a
    /// clock that was set back must not put a change where no fold finds it.
    private mutating func stamp() -> Int64 {
        let next = max(locked.now.microseconds, (stampedAt ?? 0) + 1, baseUntil?.microseconds ?? .min)
        stampedAt = next
        return next
    }

    /// Makes one change.
    mutating func make(_ edit: OrderWork.Edit, _ readLog: LogReader) async throws {
        // What was done before is answered as before: that it was done is why the state is another one now.
        let isKnown = locked.known[edit.identifier] != nil || entryByEvent[edit.identifier] != nil
        guard isKnown || options.ifMatch.holds(for: locked.digest) else { throw StoreError.changed(locked.key) }
        switch edit.change {
        case .event(let event): try await take(event, edit, readLog)
        case .patch(let patch): try await take(document.mergePatched(with: patch), edit, readLog)
        case .replace(let document): try await take(document, edit, readLog)
        case .putFile(let file):
            files[file.name] = .some(file)
            note(edit)
        case .removeFile(let name):
            files[name] = .some(nil)
            note(edit)
        case .putStrings(let locale, let table):
            strings[locale] = .some(table)
            note(edit)
        case .removeStrings(let locale):
            strings[locale] = .some(nil)
            note(edit)
        case .refresh:
            repins = true
            note(edit)
        }
    }

    private mutating func note(_ edit: OrderWork.Edit) {
        changeIndexes.insert(edit.index)
        cause = cause ?? edit.change.cause
    }

    // MARK: Events

    private mutating func take(_ event: OrderEvent, _ edit: OrderWork.Edit, _ readLog: LogReader) async throws {
        let fingerprint = Self.fingerprint(event)
        if let twin = entryByEvent[event.eventIdentifier].map({ entries[$0] }) {
            guard twin.fingerprint == fingerprint else { throw Self.reused }
            twins[edit.index] = twin.index
            return
        }
        if let known = locked.known[event.eventIdentifier] {
            // Rows from before that form have the event as it was sent.
            let isSame =
                known.fingerprint == fingerprint
                || known.fingerprint == SHA256.hash(event.json.serialized(.canonical)).bytes
            guard isSame else { throw Self.reused }
            duplicates[edit.index] = known
            return
        }
        if let occurredAt = event.occurredAt,
            occurredAt.microseconds > locked.now.microseconds + OrderEvent.allowedAhead
        {
            throw StoreError(
                .invalidDocument,
                "The event is from the future.",
                findings: [
                    Finding(
                        severity: .error,
                        code: "occurred-in-future",
                        pointer: JSONPointer(tokens: ["occurredAt"]),
                        message: "occurredAt is more than 10 minutes ahead of the server's clock.",
                        fix: "Send the moment of the event."
                    )
                ],
                order: locked.key
            )
        }
        let entry = LogEntry(event, occurredAt: event.occurredAt?.microseconds ?? stamp())
        let answer: FoldAnswer
        if let baseUntil, entry.occurredAt < baseUntil.microseconds {
            answer = .behindBase
        } else {
            answer = try await append(entry, readLog)
        }
        if answer.isApplied { cause = cause ?? edit.change.cause }
        entryByEvent[event.eventIdentifier] = entries.count
        var new = NewEntry(index: edit.index, entry: entry, fingerprint: fingerprint, answer: answer)
        if [.invalidHere, .typeMismatch].contains(answer.verdict) {
            new.complaints = log?.complaints(about: entry) ?? []
        }
        note(new)
        // One event in 200, whichever they are, looks whether the log has grown too long: nobody has to count each time.
        if (Int(fingerprint[0]) << 8 | Int(fingerprint[1])) % FoldCompaction.keptEntries == 0 { looksAtLength = true }
    }

    private mutating func note(_ entry: NewEntry) {
        entryByIndex[entry.index] = entries.count
        entries.append(entry)
    }

    /// Events that came twice within one request: place of the second, place of the first.
    private(set) var twins: [Int: Int] = [:]

    /// Over what an event says: its name, its moment, the thing and its changes, and whether it corrects. Not over its address,
    /// which is sent in bulk only, nor how the moment's zone is written or a correction denied. The form is that of an event
    /// by itself, which is what most were sent as that are kept since before there was another than the one that was sent.
    private static func fingerprint(_ event: OrderEvent) -> [UInt8] {
        var said = LogEntry(event, occurredAt: 0).body.objectValue ?? JSONObject()
        said["eventIdentifier"] = .string(event.eventIdentifier.text)
        if let occurredAt = event.occurredAt { said["occurredAt"] = .string(occurredAt.preciseText) }
        return SHA256.hash(JSONValue.object(said).serialized(.canonical)).bytes
    }

    private static let reused = StoreError(
        .eventReused,
        "This eventIdentifier was used for another event of this order. Each event needs its own."
    )

    /// Takes an entry into the document: at once when it comes after all others, else into its place in the whole log.
    private mutating func append(_ entry: LogEntry, _ readLog: LogReader) async throws -> FoldAnswer {
        if !isWhole {
            if let start, log == nil { log = FoldedLog(after: start, fold) }
            let last = log?.last ?? start?.foldedTo
            if log == nil || last.map({ !($0 < entry.position) }) ?? false {
                let present = document
                log = try await wholeLog(readLog)
                shown = present
                isWhole = true
            }
        }
        // A fold under other settings than before may differ in more than this entry; the pointers say what changed.
        let before = shown
        guard let answer = log?.append(entry, shown: before) else {
            throw StoreError(.corrupt, "A stored fold can't be read back.", order: locked.key)
        }
        shown = nil
        return answer
    }

    /// Reads the log, so that entries may come anywhere.
    private func wholeLog(_ readLog: LogReader) async throws -> FoldedLog {
        let until = baseUntil?.microseconds ?? .min
        var pace = Pace()
        var whole = FoldedLog(base: try base(), fold)
        let all = try await readLog() + entries.map(\.entry)
        for entry in all.filter({ $0.occurredAt >= until }).sorted(by: { $0.position < $1.position }) {
            whole.load(entry)
            try await pace.step()
        }
        whole.finishLoading()
        return whole
    }

    /// Folds old entries into the base when the log has grown to twice its bound: by the rules of the hourly sweep, but
    /// before late entries have to be folded over thousands. The rows stay until the sweep, as answers for duplicates.
    func compaction() throws -> (base: FoldCompaction, rest: FoldResult)? {
        guard isWhole, let log, log.count > 2 * FoldCompaction.keptEntries else { return nil }
        let entries = log.entries
        guard let made = fold.compact(try base(), entries, now: locked.now.microseconds) else { return nil }
        let rest = fold.fold(made.base, Array(entries.dropFirst(made.folded.count)))
        // Folded under other settings than now: the shown document is kept, and so is its log.
        return rest.document == document ? (made, rest) : nil
    }

    /// Reads the log when it was this request's turn to look, so that ``compaction()`` can tell.
    mutating func lookAtLength(_ count: () async throws -> Int, _ readLog: LogReader) async throws {
        guard looksAtLength, !isWhole, log != nil, shown == nil else { return }
        guard try await count() + entries.count > 2 * FoldCompaction.keptEntries else { return }
        let whole = try await wholeLog(readLog)
        // Under other settings the whole log may say something else than was answered.
        guard whole.document == document else { return }
        log = whole
        isWhole = true
    }

    private func base() throws -> FoldBase {
        try stored { try FoldBase(json: try JSONValue(parsing: Array(baseText.utf8), limits: .stored)) }
    }

    // MARK: Edits

    /// Takes the document that a PATCH or PUT asks for: it must be valid, keep its identity, and change something once the
    /// edit has its place in the log; of what it does not change there, a warning tells.
    private mutating func take(_ wished: JSONValue, _ edit: OrderWork.Edit, _ readLog: LogReader) async throws {
        changeIndexes.insert(edit.index)
        if let known = locked.known[edit.identifier] {
            // This very edit, made by a run whose answer was lost.
            duplicates[edit.index] = known
            return
        }
        let seconds = locked.now.wallTime.seconds
        let intake = OrderIntake(
            now: seconds,
            orderTypeIdentifier: locked.key.orderType,
            orderIdentifier: locked.key.order,
            createdAt: (try? OrderDocument.trusted(original))?.createdAt
        )
        let (json, notes) = intake.complete(wished)
        let (document, faults) = OrderDocument.validate(json, options.stored)
        let refusals = notes + faults + identityFaults(json)
        guard let document, !refusals.contains(where: \.isError) else {
            throw StoreError(
                .invalidDocument,
                "The order would not be valid.",
                findings: refusals,
                order: locked.key
            )
        }
        var overrulings: [Finding] = []
        let change = OrderEdit(from: self.document, to: document.json)
        if !change.isEmpty {
            let entry = LogEntry(change, identifier: edit.identifier.text, occurredAt: stamp())
            let answer = try await append(entry, readLog)
            switch answer.verdict {
            case .applied:
                cause = cause ?? edit.change.cause
                note(NewEntry(index: edit.index, entry: entry, fingerprint: [], answer: answer))
                overrulings = overruled(change, entry)
            case .same: break
            default:
                let refusal = Finding(
                    severity: .error,
                    code: "overruled",
                    pointer: .root,
                    message:
                        "Events with a later occurredAt leave no room for this change (\(answer.verdict.rawValue)).",
                    fix: "Send it again when their time has come."
                )
                throw StoreError(
                    .invalidDocument,
                    "The change would be overruled by later events.",
                    findings: refusals + [refusal],
                    order: locked.key
                )
            }
        }
        // What is to be said of the order that is shown now: events may have made another of it than was asked for.
        let said =
            self.document == document.json ? faults : OrderDocument.validate(self.document, options.stored).findings
        findings[edit.index] = notes + said.filter { !$0.isError } + overrulings
    }

    /// Where other entries overrule an edit that changed something all the same, later ones or those that had waited for what it
    /// adds: what it would still change behind them, if it were about things that are there. And which of those that had waited it
    /// overrules, whose author it may not know.
    private func overruled(_ change: OrderEdit, _ entry: LogEntry) -> [Finding] {
        guard let log, let last = log.last, entry.position < last || change.adds else { return [] }
        let isLast = !(entry.position < last)
        var later = FoldedLog(after: log.result, fold)
        let places = later.append(
            LogEntry(change.stated, identifier: entry.identifier, occurredAt: last.occurredAt + 1)
        ).changed
        let stated = change.changes.last { $0.subject == .order }?.members
        let reports = log.overruledReports(by: entry).map { report in
            Finding(
                severity: .warning,
                code: "event-overruled",
                pointer: report.pointer,
                message:
                    "The event \"\(report.eventIdentifier)\" had said \"\(report.status)\" of this before it was there; this change overrules it.",
                fix: "Set the status to \"\(report.status)\" if the event is right."
            )
        }
        return reports
            + places.filter { place in
                // A status that follows from the fulfillments was not asked for.
                guard place.tokens.count == 1, let name = place.tokens.first, name.beginsExactly(with: "status") else {
                    return true
                }
                return stated?[name] != nil
            }.map { place in
                Finding(
                    severity: .warning,
                    code: "overruled",
                    pointer: place,
                    message: isLast
                        ? "An event that had waited for this has another value here, which stays."
                        : "An event with a later occurredAt has another value here, which stays.",
                    fix: isLast
                        ? "Send it once more if the event is wrong: now it is there, and a change of it counts."
                        : "Send it again when the time of that event has come."
                )
            }
    }

    private func identityFaults(_ json: JSONValue) -> [Finding] {
        var faults: [Finding] = []
        for (member, value) in [
            ("orderTypeIdentifier", locked.key.orderType.text), ("orderIdentifier", locked.key.order.text),
        ] {
            let said = json[member]?.stringValue
            if let said, !said.utf8.elementsEqual(value.utf8) {
                faults.append(
                    Finding(
                        severity: .error,
                        code: "identifier-changed",
                        pointer: JSONPointer(tokens: [member]),
                        message: "An order keeps its identifiers.",
                        fix: "Leave \"\(member)\" out."
                    )
                )
            }
        }
        return faults
    }
}
