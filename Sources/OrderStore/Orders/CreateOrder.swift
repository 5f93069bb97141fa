// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import ExactJSON
package import OrderModel
import PostgreSQL
package import ServiceRuntime

/// An order to be stored: a valid document, its own files and strings.
package struct NewOrder: Sendable {
    /// The valid document.
    package var document: OrderDocument
    /// Files sent for this order; those of its type are pinned by themselves where the document names them.
    package var files: [OrderFile]
    /// Strings sent for this order, by locale.
    package var strings: [(locale: String, table: JSONObject)]
    /// The API key that asked, for the history.
    package var actor: String?
    /// Set when the request came with an idempotency key.
    package var idempotency: IdempotentRequest?

    /// Describes an order.
    package init(
        document: OrderDocument,
        files: [OrderFile] = [],
        strings: [(locale: String, table: JSONObject)] = [],
        actor: String? = nil,
        idempotency: IdempotentRequest? = nil
    ) {
        self.document = document
        self.files = files
        self.strings = strings
        self.actor = actor
        self.idempotency = idempotency
    }

    var key: OrderKey { OrderKey(document.orderTypeIdentifier, document.orderIdentifier) }
}

/// An order that was stored.
package struct CreatedOrder: Sendable {
    /// Type and identifier.
    package let key: OrderKey
    /// 1.
    package let revision: Int64
    /// `createdAt` to the second.
    package let updatedAt: WallTime
    /// The identity of the revision.
    package let digest: SHA256Digest
    /// For the customer's device; keep it out of logs and kept answers.
    package let authenticationToken: String
    /// Names in the document that no file answers to.
    package let missingFiles: [String]
    /// Warnings about files and texts, as a check of the package would give them; pointers lead into the document.
    package let fileFindings: [Finding]

    /// The strong validator at the merchant's door.
    package var entityTag: String { OrderHead.entityTag(digest) }
}

/// What became of a create.
package enum CreateOutcome: Sendable {
    /// It was stored.
    case created(CreatedOrder)
    /// The same request was answered before. The token is nil when the order was erased since.
    case replayed(StoredAnswer, key: OrderKey, authenticationToken: String?)
}

extension OrderStore {
    /// Stores a new order: head, document, files and revision 1, and the answer when the request has an idempotency
    /// key, in one statement, so that all or nothing of it is there.
    ///
    /// - Throws: ``StoreError`` with `orderExists` (also for an erased one), `invalidDocument` (createdAt more than 10
    ///   minutes ahead; a file that is not what the document names it as), `packageTooLarge`, `keyReused`, `stillRunning`, `busy`.
    package func create(_ new: NewOrder) async throws -> CreateOutcome {
        let key = new.key
        try await ensureOrderType(key.orderType)
        let stamp = tokens.newStamp()
        let token = try tokens.token(for: key, stamp: stamp)
        var tries = 0
        while true {
            tries += 1
            do {
                return .created(try await insert(new, stamp: stamp, token: token))
            } catch let error as PostgresError where error.code == .uniqueViolation {
                // A try whose answer was lost may be what stands there: its nonce tells.
                if tries > 1, let head = try await head(key), head.token == stamp {
                    let plan = try await filePlan(new)
                    try await awaitStandby()
                    return .created(
                        CreatedOrder(
                            key: key,
                            revision: 1,
                            updatedAt: WallTime(seconds: new.document.createdAt),
                            digest: head.digest,
                            authenticationToken: token,
                            missingFiles: plan.missing,
                            fileFindings: plan.findings(of: new.document.json)
                        )
                    )
                }
                if let request = new.idempotency, let outcome = try await replay(request, of: key.orderType) {
                    return outcome
                }
                let present = try await head(key)
                // To whoever asked before and got no answer this is one.
                if present != nil { try await awaitStandby() }
                if present?.isErased == true { throw StoreError.existed }
                if present != nil || tries > 3 { throw StoreError.exists(key) }
            } catch let error as StoreError where error.code == .packageTooLarge {
                // Files of the type may have grown since the same request was answered.
                guard let request = new.idempotency, let outcome = try await replay(request, of: key.orderType) else {
                    throw error
                }
                return outcome
            } catch let error as PostgresError where error.code == .lockTimeout {
                guard new.idempotency != nil, try await !isWaitingForErasure(new) else { throw StoreError.busy }
                throw StoreError(
                    .stillRunning,
                    "Another request to create this order, or with this Idempotency-Key, is being worked on. "
                        + "Send it again in a second.",
                    retryAfter: 1
                )
            } catch let error as PostgresError
                where tries <= 4 && (error.isRetryable || error.code == .unknownCommit) && !RequestTime.isOver
            {
                // A lost server needs a moment.
                try await sleep(for: .milliseconds(Int.random(in: 1...(20 << tries))))
            }
        }
    }

    /// What ``create(_:)`` would answer, without locks and with nothing stored. The token is one of no order.
    package func validateCreate(_ new: NewOrder) async throws -> CreatedOrder {
        let key = new.key
        let rows = try await client.query(
            OrderStatements.checkCreate,
            [.text(key.orderType.text), .text(key.order.text), .timestamp(.seconds(new.document.createdAt))]
        )
        guard let row = rows.first else { throw StoreError(.corrupt, "The database gave no answer.") }
        guard try row.bool(0) else { throw Self.createdAhead }
        if try row.bool(1) { throw try await head(key)?.isErased == true ? StoreError.existed : .exists(key) }
        let plan = try await filePlan(new)
        let text = String(decoding: new.document.json.serialized(), as: UTF8.self)
        if let refusal = plan.weight.refusal(document: text.utf8.count) { throw refusal }
        let fileFindings = try Self.fileFindings(plan, new)
        return CreatedOrder(
            key: key,
            revision: 1,
            updatedAt: WallTime(seconds: new.document.createdAt),
            digest: RevisionDigest.make(
                document: text,
                parts: OrderPart.digest(of: plan.parts),
                modifiedAt: new.document.createdAt
            ),
            authenticationToken: try tokens.token(for: key, stamp: tokens.newStamp()),
            missingFiles: plan.missing,
            fileFindings: fileFindings
        )
    }

    /// What is to be said of the files.
    ///
    /// - Throws: ``StoreError`` with `invalidDocument` when one of them is not what the document names it as.
    private static func fileFindings(_ plan: FilePlan, _ new: NewOrder) throws(StoreError) -> [Finding] {
        let findings = plan.findings(of: new.document.json)
        guard findings.contains(where: \.isError) else { return findings }
        throw StoreError(.invalidDocument, "A file is not what the order names it as.", findings: findings)
    }

    private func filePlan(_ new: NewOrder) async throws -> FilePlan {
        let references = new.document.imageNames
        let rows = try await client.withConnection { connection in
            try await connection.pipeline(FilePlan.typeStatements(new.key.orderType, references))
        }
        return try FilePlan(
            own: new.files.map { FilePlan.OwnFile($0) },
            references: references,
            ownStrings: new.strings.map { ($0.locale, $0.table) },
            typeRows: rows
        )
    }

    /// Whether contents that a create pins are being taken away, which is what it then waited for.
    private func isWaitingForErasure(_ new: NewOrder) async throws -> Bool {
        let digests = try await filePlan(new).parts.map(\.digest.bytes)
        if digests.isEmpty { return false }
        let rows = try await client.query(
            FileStatements.areAssetsTaken,
            [.text(new.key.orderType.text), .bytesArray(digests)]
        )
        return try rows.first?.bool(0) ?? false
    }

    private func insert(_ new: NewOrder, stamp: TokenStamp, token: String) async throws -> CreatedOrder {
        let key = new.key
        let type = PostgresValue.text(key.orderType.text)
        /// Contents of the type's files that were planned and not there.
        var missed: Set<SHA256Digest> = []
        for attempt in 1...4 {
            let plan = try await filePlan(new)
            let (created, values) = try row(new, plan, stamp: stamp, token: token)
            let contents = new.files + plan.made
            if !contents.isEmpty {
                if attempt == 1 {
                    let place: [PostgresValue] = [
                        type, .text(key.order.text), .timestamp(.seconds(new.document.createdAt)),
                    ]
                    let check = try await client.query(OrderStatements.checkCreate, place)
                    guard let row = check.first else { throw StoreError(.corrupt, "The database gave no answer.") }
                    guard try row.bool(0) else { throw Self.createdAhead }
                    // A repeated request must not bring back the files of an order that was erased. Its own identifier may
                    // be another one each time; its key is the same.
                    if try row.bool(1) { throw PostgresError(.uniqueViolation, "the order is there already") }
                    if let request = new.idempotency {
                        let scope = [type, .text(request.route), .text(request.key)]
                        let kept = try await client.query(AccessStatements.readAnswer, scope)
                        if !kept.isEmpty { throw PostgresError(.uniqueViolation, "the key was used already") }
                    }
                }
                // Contents first and by themselves, or all orders with the same logo would wait for each other: without
                // their order they are swept up after a day. Those that an erasure took in between are put again.
                let (statement, contentValues) = Self.putAssets(contents, key.orderType)
                _ = try await client.query(statement, contentValues)
            }
            let pinned = Set(plan.parts.map(\.digest))
            // What is missing in a new plan, too, is missing for another reason, which must not keep an order from being made.
            let needed = pinned.filter { !missed.contains($0) }
            if pinned.isEmpty {
                let rows = try await client.query(OrderStatements.createOrder, values + [.bytesArray([])])
                guard !rows.isEmpty else { throw Self.createdAhead }
                return created
            }
            let rows = try await client.pipeline([
                (FileStatements.holdAssets, [type, .bytesArray(pinned.map(\.bytes))]),
                (OrderStatements.createOrder, values + [.bytesArray(needed.map(\.bytes))]),
            ])
            if rows.last?.isEmpty == false { return created }
            let held = Set(try rows[0].map { try SHA256Digest(stored: $0.bytes(0)) })
            if held.isSuperset(of: needed) { throw Self.createdAhead }
            missed = pinned.subtracting(held).subtracting(contents.map(\.digest))
        }
        throw StoreError.busy
    }

    /// What stands for the new order, and the values of `createOrder` but the last.
    private func row(
        _ new: NewOrder,
        _ plan: FilePlan,
        stamp: TokenStamp,
        token: String
    ) throws -> (created: CreatedOrder, values: [PostgresValue]) {
        let key = new.key
        let document = new.document
        let text = String(decoding: document.json.serialized(), as: UTF8.self)
        if let refusal = plan.weight.refusal(document: text.utf8.count) { throw refusal }
        let fileFindings = try Self.fileFindings(plan, new)
        let parts = OrderPart.digest(of: plan.parts)
        let digest = RevisionDigest.make(document: text, parts: parts, modifiedAt: document.createdAt)
        let created = CreatedOrder(
            key: key,
            revision: 1,
            updatedAt: WallTime(seconds: document.createdAt),
            digest: digest,
            authenticationToken: token,
            missingFiles: plan.missing,
            fileFindings: fileFindings
        )
        let kept = new.idempotency.map { request in (request, request.answer(created)) }
        let facts = HeadFacts(document)
        let values: [PostgresValue] = [
            .text(key.orderType.text), .text(key.order.text), .timestamp(.seconds(document.createdAt)),
            .bytes(digest.bytes), .bytes(parts.bytes), .int(plan.version), .text(facts.status),
            .texts(facts.fulfillmentStatuses), facts.orderNumber.map { .text($0) } ?? .null, .int(Int64(stamp.kid)),
            .bytes(stamp.nonce),
            kept.map { .text($0.0.route) } ?? .null, kept.map { .text($0.0.key) } ?? .null,
            kept.map { .bytes($0.0.fingerprint.bytes) } ?? .null, kept.map { .int(Int64($0.1.status)) } ?? .null,
            kept.map { .text($0.1.body) } ?? .null,
            .text(text), .text(""), .text(""),
            .texts(plan.parts.map(\.name)), .bytesArray(plan.parts.map(\.digest.bytes)),
            .texts(plan.parts.map(\.origin.rawValue)),
            .texts(new.strings.map(\.locale)), .texts(new.strings.map { StringsText.text(of: $0.table) }),
            new.actor.map { .text($0) } ?? .null,
        ]
        return (created, values)
    }

    private static var createdAhead: StoreError {
        StoreError(
            .invalidDocument,
            "The order is from the future.",
            findings: [
                Finding(
                    severity: .error,
                    code: "created-in-future",
                    pointer: JSONPointer(tokens: ["createdAt"]),
                    message: "createdAt is more than 10 minutes ahead of the server's clock.",
                    fix: "Send the time of the purchase, with its offset from UTC."
                )
            ]
        )
    }
}

/// What the head says about its document, so that lists need not read it.
struct HeadFacts: Sendable {
    let status: String
    let fulfillmentStatuses: [String]
    let orderNumber: String?

    init(_ document: OrderDocument) {
        self.status = document.status.rawValue
        self.fulfillmentStatuses = Set(document.fulfillments.map(\.status.rawValue)).sorted()
        // NUL can't be stored as text, and no customer reads a number of more than 255 bytes.
        self.orderNumber = document.orderNumber.map { OrderStore.cut($0, 255) }
    }
}
