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
    }

    let locked: LockedOrder
    let options: ChangeOptions
    /// The document as it was.
    let original: JSONValue
    private(set) var result: FoldResult
    private(set) var entries: [NewEntry] = []
    /// Answers to what had come before, by place in the request.
    private(set) var duplicates: [Int: LockedOrder.KnownEntry] = [:]
    /// Warnings about documents, by place in the request.
    private(set) var findings: [Int: [Finding]] = [:]
    /// Own files put (a file) or taken away (nil).
    private(set) var files: [String: OrderFile?] = [:]
    /// Own strings put (a table) or taken away (nil).
    private(set) var strings: [String: JSONObject?] = [:]
    /// Whether files are to be pinned anew though no document changed.
    private(set) var repins = false
    /// What made the revision, for the history.
    private(set) var cause: String?
    /// Places in the request that are changes of document or files.
    private(set) var changeIndexes: Set<Int> = []
    private(set) var stampedAt: Int64
    /// The state as stored did not allow going on; the first entry folds the log.
    private var mustFold = false

    private let baseText: String
    private let baseUntil: Moment?
    private let fold: OrderFold
    private var log: [LogEntry]?

    init(_ locked: LockedOrder, _ options: ChangeOptions) throws {
        guard let text = locked.text else {
            throw StoreError(.corrupt, "An order has no document; run walletorders doctor.", order: locked.key)
        }
        self.locked = locked
        self.options = options
        self.baseText = text.base
        self.baseUntil = text.baseUntil
        self.stampedAt = text.stampedAt?.microseconds ?? 0
        let document = try stored { try JSONValue(parsing: Array(text.document.utf8), limits: .stored) }
        self.original = document
        self.fold = options.fold
        if let result = FoldResult(document: document, stateText: text.state, foldedToText: text.foldedTo) {
            self.result = result
        } else {
            guard let result = FoldResult(document: document, stateText: nil, foldedToText: nil) else {
                throw StoreError(.corrupt, "A stored fold can't be read back.", order: locked.key)
            }
            self.result = result
            self.mustFold = true
        }
    }

    var documentChanged: Bool { result.document != original }
    var foldMoved: Bool { !entries.isEmpty }
    var touchesFiles: Bool { !files.isEmpty || !strings.isEmpty || repins }

    /// The server's time for what has none, rising by at least 1 µs within an order.
    private mutating func stamp() -> Int64 {
        stampedAt = max(locked.now.microseconds, stampedAt + 1)
        return stampedAt
    }

    /// Makes one change.
    mutating func make(_ edit: OrderWork.Edit, _ readLog: LogReader) async throws {
        guard options.ifMatch.holds(for: locked.digest) else {
            throw StoreError(
                .preconditionFailed,
                "The order has changed since the version that If-Match names. Read it again.",
                order: locked.key
            )
        }
        switch edit.change {
        case .event(let event): try await take(event, edit, readLog)
        case .patch(let patch): try await take(result.document.mergePatched(with: patch), edit, readLog)
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
        let fingerprint = SHA256.hash(event.json.serialized(.canonical)).bytes
        if let twin = entries.first(where: {
            $0.entry.kind == .event && $0.entry.identifier.utf8.elementsEqual(event.eventIdentifier.text.utf8)
        }) {
            guard twin.fingerprint == fingerprint else { throw Self.reused }
            twins[edit.index] = twin.index
            return
        }
        if let known = locked.known[event.eventIdentifier] {
            guard known.fingerprint == fingerprint else { throw Self.reused }
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
        entries.append(NewEntry(index: edit.index, entry: entry, fingerprint: fingerprint, answer: answer))
    }

    /// Events that came twice within one request: place of the second, place of the first.
    private(set) var twins: [Int: Int] = [:]

    private static let reused = StoreError(
        .eventReused,
        "This eventIdentifier was used for another event of this order. Each event needs its own."
    )

    /// Takes an entry into the document: at once when it comes after all others, else by folding the log.
    private mutating func append(_ entry: LogEntry, _ readLog: LogReader) async throws -> FoldAnswer {
        let before = result.document
        if !mustFold, let next = fold.advance(result, entry) {
            result = next
            log?.append(entry)
            return fold.answer(to: entry, before: before, after: next)
        }
        var entries = try await wholeLog(readLog)
        entries.append(entry)
        log = entries
        mustFold = false
        result = fold.fold(try base(), entries)
        // A fold under other settings than before may differ in more than this entry; the pointers say what changed.
        return fold.answer(to: entry, before: before, after: result, log: entries)
    }

    private func wholeLog(_ readLog: LogReader) async throws -> [LogEntry] {
        if let log { return log }
        let baseUntil = baseUntil?.microseconds ?? .min
        let read = try await readLog().filter { $0.occurredAt >= baseUntil }
        return read + entries.map(\.entry).filter { $0.occurredAt >= baseUntil }
    }

    private func base() throws -> FoldBase {
        try stored { try FoldBase(json: try JSONValue(parsing: Array(baseText.utf8), limits: .stored)) }
    }

    // MARK: Edits

    /// Takes the document that a PATCH or PUT asks for: it must be valid, keep its identity, and be what comes out once
    /// the edit has its place in the log.
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
        var all = notes + faults + identityFaults(json)
        guard let document, !all.contains(where: \.isError) else {
            throw StoreError(
                .invalidDocument,
                "The order would not be valid.",
                findings: all,
                order: locked.key
            )
        }
        let change = OrderEdit(from: result.document, to: document.json)
        if !change.isEmpty {
            let entry = LogEntry(change, identifier: edit.identifier.text, occurredAt: stamp())
            let answer = try await append(entry, readLog)
            switch answer.verdict {
            case .applied:
                cause = cause ?? edit.change.cause
                entries.append(NewEntry(index: edit.index, entry: entry, fingerprint: [], answer: answer))
            case .same: break
            default:
                all.append(
                    Finding(
                        severity: .error,
                        code: "overruled",
                        pointer: .root,
                        message:
                            "Events with a later occurredAt leave no room for this change (\(answer.verdict.rawValue)).",
                        fix: "Send it again when their time has come."
                    )
                )
                throw StoreError(
                    .invalidDocument,
                    "The change would be overruled by later events.",
                    findings: all,
                    order: locked.key
                )
            }
        }
        findings[edit.index] = all
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
