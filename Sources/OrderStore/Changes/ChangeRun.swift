// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime

/// One transaction of changes: A1 locks and reads, the drafts are made in memory, A2 fans out and writes.
struct ChangeRun {
    let orderType: OrderTypeIdentifier
    let options: ChangeOptions
    let connection: PostgresConnection
    /// How many devices follow the orders that got a revision.
    private(set) var devices: Int64 = 0

    private var outcomes: [Int: Result<ChangeOutcome, any Error>] = [:]
    private let attempts: Locked<[OrderKey: Attempt]>?
    /// Contents of the type's files that an earlier run missed.
    let missed: Locked<Set<SHA256Digest>>

    /// What an earlier run of the same changes was about to commit.
    struct Attempt: Sendable {
        /// The identity of the revision that it made; nil when it changed where the order's files come from and no more.
        let digest: SHA256Digest?
        let outcomes: [Int: Result<ChangeOutcome, any Error>]
    }

    /// - Parameters:
    ///   - attempts: what a run notes for the next, should the answer to its commit be lost: changes of files have no entry in
    ///     the log that tells they were made.
    ///   - missed: what a run notes for the next when it planned with contents that an erasure took.
    init(
        orderType: OrderTypeIdentifier,
        options: ChangeOptions,
        connection: PostgresConnection,
        attempts: Locked<[OrderKey: Attempt]>? = nil,
        missed: Locked<Set<SHA256Digest>> = Locked([])
    ) {
        self.orderType = orderType
        self.options = options
        self.connection = connection
        self.attempts = attempts
        self.missed = missed
    }

    /// A draft that is ready to be written.
    struct Ready {
        let draft: OrderDraft
        let plan: FilePlan?
        let revises: Bool
        let text: String
        let partsDigest: SHA256Digest
        let digest: SHA256Digest
        let facts: HeadFacts?
        /// What is to be said of the files, when they were chosen anew for somebody who hears it.
        let fileFindings: [Finding]
    }

    mutating func outcomes(_ works: [OrderWork]) async throws -> [Int: Result<ChangeOutcome, any Error>] {
        let (orders, partsVersion) = try await LockedOrder.read(
            works,
            of: orderType,
            locking: !options.validateOnly,
            on: connection
        )
        var ready: [Ready] = []
        for work in works {
            guard let locked = orders[work.key.order], !locked.isErased else {
                let error: StoreError =
                    orders[work.key.order] == nil ? .notFound(work.key) : .erased(work.key)
                for edit in work.edits { outcomes[edit.index] = .failure(error) }
                continue
            }
            if let made = attempts?.withLock({ $0[work.key] }), made.digest == locked.digest {
                // It was committed: nobody else makes a revision of this time and these contents.
                outcomes.merge(made.outcomes) { _, new in new }
                continue
            }
            if let one = try await prepare(work, locked, partsVersion) { ready.append(one) }
        }
        if !options.validateOnly { try await write(ready) }
        return outcomes
    }

    // MARK: In memory

    private mutating func prepare(
        _ work: OrderWork,
        _ locked: LockedOrder,
        _ partsVersion: Int64
    ) async throws -> Ready? {
        var draft: OrderDraft
        do {
            draft = try OrderDraft(locked, options)
        } catch let error as StoreError {
            for edit in work.edits { outcomes[edit.index] = .failure(error) }
            return nil
        }
        let readLog: OrderDraft.LogReader = { [connection] in try await Self.readLiveLog(locked, on: connection) }
        var pace = Pace()
        var lastContact = MonotonicTime.now()
        for edit in work.edits {
            // An event is refused before it changes anything; of another change a copy is thrown away.
            let untouched: OrderDraft? = if case .event = edit.change { nil } else { draft }
            do {
                try await draft.make(edit, readLog)
            } catch let error as StoreError {
                // The draft stays as it was: a bad change spoils none of the others.
                if let untouched { draft = untouched }
                outcomes[edit.index] = .failure(error)
            }
            try await pace.step()
            try await stayInTouch(&lastContact)
        }
        let one: Ready
        do {
            if !options.validateOnly {
                try await draft.lookAtLength(
                    { [connection] in try await Self.liveCount(locked, on: connection) },
                    readLog
                )
            }
            one = try await finish(draft, partsVersion)
        } catch let error as StoreError {
            // What an earlier run was about to take away is away: by its commit, which was not answered for.
            if [.assetNotFound, .localizationNotFound].contains(error.code),
                let made = attempts?.withLock({ $0[work.key] })
            {
                outcomes.merge(made.outcomes) { _, new in new }
                return nil
            }
            for edit in work.edits where outcomes[edit.index] == nil { outcomes[edit.index] = .failure(error) }
            return nil
        }
        for edit in work.edits where outcomes[edit.index] == nil { outcomes[edit.index] = answer(to: edit, one) }
        if let attempts, one.revises || draft.touchesFiles {
            let indexes = Set(work.edits.map(\.index))
            let attempt = Attempt(
                digest: one.revises ? one.digest : nil,
                outcomes: outcomes.filter { indexes.contains($0.key) }
            )
            attempts.withLock { $0[work.key] = attempt }
        }
        return one
    }

    /// Lets the server know that the transaction is still at work, or it would end it for being idle.
    private func stayInTouch(_ lastContact: inout MonotonicTime) async throws {
        guard MonotonicTime.now() - lastContact > .seconds(3) else { return }
        _ = try await connection.query(UpkeepStatements.readClock)
        lastContact = MonotonicTime.now()
    }

    /// The entries that are not in the base.
    static func readLiveLog(_ locked: LockedOrder, on connection: PostgresConnection) async throws -> [LogEntry] {
        try entries(try await connection.query(OrderStatements.readLiveLog, live(locked)), locked.key)
    }

    private static func liveCount(_ locked: LockedOrder, on connection: PostgresConnection) async throws -> Int {
        Int(try await connection.query(OrderStatements.countLiveLog, live(locked)).first?.int(0) ?? 0)
    }

    private static func live(_ locked: LockedOrder) -> [PostgresValue] {
        [
            .text(locked.key.orderType.text), .text(locked.key.order.text),
            locked.text?.baseUntil.map { .timestamp($0.timestamp) } ?? .null,
        ]
    }

    static func entries(_ rows: Rows, _ key: OrderKey) throws -> [LogEntry] {
        try rows.map { row in
            try stored {
                guard let kind = LogEntry.Kind(rawValue: try row.text(1)) else {
                    throw StoreError(.corrupt, "An entry of the log can't be read back.", order: key)
                }
                return try LogEntry(
                    kind: kind,
                    identifier: try row.text(0),
                    occurredAt: try row.timestamp(2).microseconds,
                    body: try JSONValue(parsing: try row.bytes(3), limits: .stored)
                )
            }
        }
    }

    /// Decides whether there is a revision, and which files it pins.
    private func finish(_ draft: OrderDraft, _ partsVersion: Int64) async throws -> Ready {
        let locked = draft.locked
        let document =
            draft.documentChanged || draft.touchesFiles
            ? try stored { try OrderDocument.trusted(draft.document) } : nil
        var plan: FilePlan?
        var before: PackageWeight?
        var hadOther = false
        if let document {
            let references = document.imageNames
            if draft.documentChanged {
                let original = try stored { try OrderDocument.trusted(draft.original) }
                hadOther = Self.uses(original) != Self.uses(document)
            }
            if draft.touchesFiles || hadOther || draft.documentChanged && partsVersion != locked.partsVersion {
                let planned = try await self.plan(draft, references)
                (plan, before) = (planned.plan, planned.before)
            }
        }
        var partsDigest = plan.map { OrderPart.digest(of: $0.parts) } ?? locked.partsDigest
        let revises = draft.documentChanged || partsDigest != locked.partsDigest
        let text = revises ? String(decoding: draft.document.serialized(), as: UTF8.self) : ""
        if revises, let refusal = try await refusal(draft, plan, before, text.utf8.count) {
            // The type's files have grown: they must not keep an order from what is told of it, which keeps those it has.
            guard plan != nil, !draft.touchesFiles, !hadOther,
                try await self.refusal(draft, nil, before, text.utf8.count) == nil
            else { throw refusal }
            plan = nil
            partsDigest = locked.partsDigest
        }
        let fileFindings = try plan.map { try Self.fileFindings(draft, $0) } ?? []
        if revises, locked.nextAt.microseconds > locked.now.microseconds + 3_600_000_000 {
            throw StoreError(
                .aheadOfClock,
                "The order changed so often that its updatedAt is more than an hour ahead. Wait.",
                order: locked.key,
                retryAfter: Int((locked.nextAt.microseconds - locked.now.microseconds) / 1_000_000 - 3_599)
            )
        }
        return Ready(
            draft: draft,
            plan: plan,
            revises: revises,
            text: text,
            partsDigest: partsDigest,
            digest: revises
                ? RevisionDigest.make(
                    document: text,
                    parts: partsDigest,
                    modifiedAt: locked.nextAt.wallTime.seconds
                ) : locked.digest,
            facts: document.map { HeadFacts($0) },
            fileFindings: fileFindings
        )
    }

    /// Why the order's package would be too large; nil when it is not.
    ///
    /// - Parameters:
    ///   - plan: the files that it gets; nil when it keeps those it has.
    ///   - before: what those weigh, when it was read.
    ///   - size: of the document's text.
    private func refusal(
        _ draft: OrderDraft,
        _ plan: FilePlan?,
        _ before: PackageWeight?,
        _ size: Int
    ) async throws -> StoreError? {
        let sizeBefore = draft.locked.text?.document.utf8.count ?? 0
        // What an order of no great size grows by is counted with its files.
        guard plan != nil || size > max(PackageWeight.documentFloor, sizeBefore) else { return nil }
        var weight = before
        if weight == nil {
            let key = draft.locked.key
            let rows = try await connection.query(
                FileStatements.readParts,
                [.text(key.orderType.text), .texts([key.order.text])]
            )
            weight = try Self.weight(rows)
        }
        guard let weight else { return nil }
        let refusal = (plan?.weight ?? weight).refusal(document: size, before: (weight, sizeBefore))
        return refusal.map { StoreError($0.code, $0.message, findings: $0.findings, order: draft.locked.key) }
    }

    private static func weight(_ parts: Rows) throws -> PackageWeight {
        var weight = PackageWeight()
        for row in parts { weight.add(try row.text(1), Int(try row.int(4))) }
        return weight
    }

    private func plan(
        _ draft: OrderDraft,
        // short: PackagePaths and locales, which are short ASCII.
        _ references: Set<String>
    ) async throws -> (plan: FilePlan, before: PackageWeight) {
        let type = PostgresValue.text(orderType.text)
        let order = PostgresValue.texts([draft.locked.key.order.text])
        let rows = try await connection.pipeline(
            FilePlan.typeStatements(orderType, references) + [
                (FileStatements.readParts, [type, order]), (FileStatements.readOrderStrings, [type, order]),
            ]
        )
        // short: PackagePaths and locales, which are short ASCII.
        var own: [String: FilePlan.OwnFile] = [:]
        for row in rows[3] where try row.text(3) == OrderPart.Origin.order.rawValue {
            let name = try row.text(1)
            let digest = try SHA256Digest(stored: row.bytes(2))
            let part = OrderPart(name: name, digest: digest, origin: .order)
            own[name] = FilePlan.OwnFile(part, size: Int(try row.int(4)), firstBytes: try row.bytes(5))
        }
        for (name, file) in draft.files {
            if file == nil, own[name] == nil {
                throw StoreError(
                    .assetNotFound,
                    "The order has no file of its own of this name.",
                    order: draft.locked.key
                )
            }
            own[name] = file.map { FilePlan.OwnFile($0) }
        }
        // short: PackagePaths and locales, which are short ASCII.
        var strings: [String: JSONObject] = [:]
        for row in rows[4] { strings[try row.text(1)] = try StringsText.table(try row.text(2)) }
        for (locale, table) in draft.strings {
            if table == nil, strings[locale] == nil {
                throw StoreError(
                    .localizationNotFound,
                    "The order has no strings of its own for this locale.",
                    order: draft.locked.key
                )
            }
            strings[locale] = table
        }
        let plan = try FilePlan(
            own: Array(own.values),
            references: references,
            ownStrings: strings.map { ($0.key, $0.value) },
            typeRows: rows
        )
        return (plan, try Self.weight(rows[3]))
    }

    private func answer(to edit: OrderWork.Edit, _ ready: Ready) -> Result<ChangeOutcome, any Error> {
        let draft = ready.draft
        let locked = draft.locked
        let revision = ready.revises ? locked.revision + 1 : locked.revision
        let updatedAt = (ready.revises ? locked.nextAt : locked.modifiedAt).wallTime
        let index = draft.twins[edit.index] ?? edit.index
        let entry = draft.entry(at: index)
        let changed = entry?.answer.changed.map(\.description)
        if case .event(let event) = edit.change {
            let known = draft.duplicates[edit.index]
            let verdict = known?.verdict ?? entry?.answer.verdict.rawValue ?? Verdict.same.rawValue
            return .success(
                .event(
                    EventAnswer(
                        eventIdentifier: event.eventIdentifier.text,
                        applied: verdict == Verdict.applied.rawValue,
                        reason: verdict,
                        revision: known?.revision ?? revision,
                        updatedAt: known?.modifiedAt.wallTime ?? updatedAt,
                        changed: known?.changed ?? changed ?? [],
                        errors: known?.complaints ?? entry?.complaints.map(\.json) ?? [],
                        duplicate: known != nil || draft.twins[edit.index] != nil
                    )
                )
            )
        }
        let known = draft.duplicates[edit.index]
        return .success(
            .change(
                ChangeAnswer(
                    revision: known?.revision ?? revision,
                    updatedAt: known?.modifiedAt.wallTime ?? updatedAt,
                    digest: known.flatMap { digest(of: $0, locked) } ?? ready.digest,
                    changed: known?.changed ?? changed ?? (ready.revises ? Self.names(draft) : []),
                    findings: (draft.findings[edit.index] ?? []) + ready.fileFindings,
                    missingFiles: ready.plan?.missing ?? [],
                    isNewRevision: known != nil || ready.revises
                )
            )
        )
    }

    /// The identity of the revision that an earlier run of the same edit made, when there is another one since: with the
    /// present one in hand, the caller could overwrite a change that was never read.
    private func digest(of known: LockedOrder.KnownEntry, _ locked: LockedOrder) -> SHA256Digest? {
        known.revision == locked.revision ? nil : attempts?.withLock { $0[locked.key] }?.digest
    }

    private static func names(_ draft: OrderDraft) -> [String] {
        draft.files.keys.sorted() + draft.strings.keys.sorted().map { "\($0).lproj/order.strings" }
    }

    // MARK: Writing

    private mutating func write(_ ready: [Ready]) async throws {
        let type = PostgresValue.text(orderType.text)
        let actor = options.actor.map { PostgresValue.text($0) } ?? .null
        let writing = ready.filter { $0.revises || $0.draft.foldMoved || $0.draft.touchesFiles }
        if writing.isEmpty { return }
        var batch: [(Statement, [PostgresValue])] = []
        let contents = writing.flatMap { one in
            one.draft.files.values.compactMap { $0 } + (one.plan?.made ?? [])
        }
        let absent = try await hold(writing.flatMap { $0.plan?.parts ?? [] }, contents)
        if !absent.isEmpty { batch.append(OrderStore.putAssets(absent, orderType)) }
        for one in writing {
            let order = PostgresValue.text(one.draft.locked.key.order.text)
            for (locale, table) in one.draft.strings.sorted(by: { $0.key < $1.key }) {
                if let table {
                    batch.append(
                        (
                            FileStatements.putOrderStrings,
                            [type, order, .text(locale), .text(StringsText.text(of: table))]
                        )
                    )
                } else {
                    batch.append((FileStatements.removeOrderStrings, [type, order, .text(locale)]))
                }
            }
            if let plan = one.plan {
                batch.append((FileStatements.dropParts, [type, order, .texts(plan.parts.map(\.name))]))
                batch.append(
                    (
                        FileStatements.putParts,
                        [
                            type, order, .texts(plan.parts.map(\.name)), .bytesArray(plan.parts.map(\.digest.bytes)),
                            .texts(plan.parts.map(\.origin.rawValue)),
                        ]
                    )
                )
            }
            if !one.revises, let plan = one.plan, plan.version != one.draft.locked.partsVersion {
                // Nothing that concerns this order: the next roll-out need not look at it again.
                batch.append((FileStatements.savePartsVersion, [type, order, .int(plan.version)]))
            }
            if !one.revises, one.draft.foldMoved {
                let fold = one.draft.foldTexts
                batch.append(
                    (
                        OrderStatements.saveFold,
                        [
                            type, order, .text(fold.foldedTo), .text(fold.state),
                            one.draft.stampedAt.map { .timestamp(Timestamp(microseconds: $0)) } ?? .null,
                        ]
                    )
                )
            }
        }
        let revised = writing.filter(\.revises)
        if !revised.isEmpty { batch.append((OrderStatements.reviseOrders, Self.revision(revised, type, actor))) }
        let events = writing.flatMap { one in one.draft.entries.map { (one, $0) } }
        if !events.isEmpty { batch.append((OrderStatements.addEvents, Self.log(events, type, actor))) }
        for one in writing where one.draft.foldMoved {
            guard let (made, rest) = try one.draft.compaction() else { continue }
            batch.append((OrderStatements.moveBase, Self.base(made, rest, one.draft.locked, type)))
        }
        let rows = try await connection.pipeline(batch)
        for (place, item) in batch.enumerated() where item.0 == OrderStatements.reviseOrders {
            guard rows[place].count == revised.count, let first = rows[place].first else {
                throw StoreError(.corrupt, "Not every head was moved; nothing was stored.")
            }
            devices = try first.int(3)
        }
    }

    /// Values of `moveBase`.
    static func base(
        _ made: FoldCompaction,
        _ rest: FoldResult,
        _ locked: LockedOrder,
        _ type: PostgresValue
    ) -> [PostgresValue] {
        [
            type, .text(locked.key.order.text),
            .text(String(decoding: made.base.json.serialized(), as: UTF8.self)),
            .timestamp(Timestamp(microseconds: made.baseUntil)),
            .text(rest.foldedTo?.text ?? locked.text?.foldedTo ?? ""), .text(rest.state.text),
        ]
    }

    private static func revision(_ revised: [Ready], _ type: PostgresValue, _ actor: PostgresValue) -> [PostgresValue] {
        let drafts = revised.map(\.draft)
        return [
            type, .texts(drafts.map(\.locked.key.order.text)), .texts(revised.map(\.text)),
            .texts(drafts.map { ($0.foldMoved ? $0.foldTexts.foldedTo : $0.locked.text?.foldedTo) ?? "" }),
            .texts(drafts.map { ($0.foldMoved ? $0.foldTexts.state : $0.locked.text?.state) ?? "" }),
            .timestamps(drafts.map { $0.stampedAt.map { Timestamp(microseconds: $0) } }),
            .bytesArray(revised.map(\.digest.bytes)), .texts(revised.map { $0.facts?.status ?? "open" }),
            .texts(revised.map { ($0.facts?.fulfillmentStatuses ?? []).joined(separator: ",") }),
            .texts(revised.map { $0.facts?.orderNumber }), .timestamps(drafts.map(\.locked.nextAt.timestamp)),
            .bytesArray(revised.map(\.partsDigest.bytes)),
            .ints(revised.map { $0.plan?.version ?? $0.draft.locked.partsVersion }),
            .texts(drafts.map { $0.cause ?? "change" }),
            .texts(
                drafts.map { draft in
                    LockedOrder.text(
                        of: DocumentDiff.pointers(from: draft.original, to: draft.document).map(\.description)
                            + names(draft)
                    )
                }
            ),
            .int(drafts.map(\.locked.mark).max() ?? 0), actor,
        ]
    }

    private static func log(
        _ events: [(one: Ready, entry: OrderDraft.NewEntry)],
        _ type: PostgresValue,
        _ actor: PostgresValue
    ) -> [PostgresValue] {
        func revision(_ one: Ready) -> Int64 { one.draft.locked.revision + (one.revises ? 1 : 0) }
        func time(_ one: Ready) -> Timestamp {
            (one.revises ? one.draft.locked.nextAt : one.draft.locked.modifiedAt).timestamp
        }
        return [
            type, .texts(events.map(\.one.draft.locked.key.order.text)), .texts(events.map(\.entry.entry.identifier)),
            .texts(events.map(\.entry.entry.kind.rawValue)),
            .timestamps(events.map { Timestamp(microseconds: $0.entry.entry.occurredAt) }),
            .bytesArray(events.map(\.entry.fingerprint)),
            .texts(events.map { String(decoding: $0.entry.entry.body.serialized(), as: UTF8.self) }),
            .texts(events.map(\.entry.answer.verdict.rawValue)),
            .texts(events.map { String(decoding: JSONValue.array($0.entry.told).serialized(), as: UTF8.self) }),
            .ints(events.map { revision($0.one) }), .timestamps(events.map { time($0.one) }), actor,
        ]
    }
}
