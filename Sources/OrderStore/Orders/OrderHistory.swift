// SPDX-License-Identifier: Apache-2.0

package import ExactJSON
package import OrderModel
import PostgreSQL
package import ServiceRuntime

/// The story of an order: answers "why didn't the phone update?".
package struct OrderHistory: Sendable {
    /// One change.
    package struct Revision: Sendable {
        /// Its number.
        package let revision: Int64
        /// `updatedAt`.
        package let modifiedAt: WallTime
        /// When it was really made.
        package let recordedAt: Moment
        /// `create`, `event`, `patch`, `put`, `file`, `strings` or `refresh`.
        package let cause: String
        /// The API key that asked.
        package let actor: String?
        /// JSON pointers and file names.
        package let changes: [String]
    }

    /// One entry of the log.
    package struct Event: Sendable {
        /// Its name.
        package let identifier: String
        /// `event` or `edit`.
        package let kind: String
        /// When it happened.
        package let occurredAt: Moment
        /// When it came in.
        package let receivedAt: Moment
        /// What was answered.
        package let verdict: String
        /// What is left of it now: `applied` only when the document shows something of it still. Nil when it is older than
        /// what is folded.
        package let presentVerdict: String?
        /// What it changed.
        package let changes: [String]
        /// Why it could not be applied when it came, as findings.
        package let errors: [JSONValue]
        /// The order's revision after it.
        package let revision: Int64
        /// The API key that sent it.
        package let actor: String?
    }

    /// One device and its push ticket.
    package struct Device: Sendable {
        /// The device; show it, don't log it.
        package let device: DeviceIdentifier
        /// When it registered for the order.
        package let registeredAt: Moment
        /// When it last said that its push token is its own; nil when the token was pruned.
        package let tokenSince: Moment?
        /// When its ticket is due; nil: at rest.
        package let dueAt: Moment?
        /// Whether a worker has it.
        package let isInFlight: Bool
        /// Tries since the last success.
        package let attempts: Int
        /// The last push that APNs took.
        package let pushedAt: Moment?
        /// `sent`, `retry`, `dead`, `pruned`; nil before the first push.
        package let outcome: String?
        /// APNs' reason.
        package let reason: String?
        /// Whether pushing was given up.
        package let isDead: Bool
    }

    /// How often a revision was fetched.
    package struct Reads: Sendable {
        /// The revision.
        package let revision: Int64
        /// Answers with the package.
        package let fullAnswers: Int64
        /// Answers 304.
        package let notModified: Int64
        /// The first answer.
        package let firstAt: Moment
        /// The last answer.
        package let lastAt: Moment
    }

    /// The order now.
    package let head: OrderHead
    /// When it was erased, if it was: the revisions that it had by then are counted by the head, and told no more.
    package let erasedAt: Moment?
    /// Newest first, at most 200.
    package let revisions: [Revision]
    /// In log order, at most 500, the newest.
    package let events: [Event]
    /// Oldest registration first, at most 200.
    package let devices: [Device]
    /// Newest revision first, at most 50.
    package let reads: [Reads]
    /// Newest first, at most 50.
    package let log: [DeviceLogEntry]
    /// The lists of which there is more than is told: `revisions`, `events`, `devices`, `reads`, `log`.
    package let truncated: [String]

    /// How much of each list is told.
    static let most = (revisions: 200, events: 500, devices: 200, reads: 50, log: 50)
}

extension OrderStore {
    /// Everything that is known about an order. Nil when it is unknown; little when it was erased.
    ///
    /// - Parameter options: how the log is folded, for the entries' present verdicts.
    package func history(
        _ key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> OrderHistory? {
        let place: [PostgresValue] = [.text(key.orderType.text), .text(key.order.text)]
        let most = OrderHistory.most
        // One more of each than is told shows that there is more.
        @Sendable func oneMore(_ count: Int) -> [PostgresValue] { place + [.int(Int64(count + 1))] }
        let rows = try await repeating {
            try await self.client.withConnection { connection in
                try await connection.pipeline([
                    (OrderStatements.readHead, place), (ListStatements.readRevisions, oneMore(most.revisions)),
                    (OrderStatements.readAnswers, oneMore(most.events)),
                    (DeviceStatements.readDevicesOfOrder, oneMore(most.devices)),
                    (DeviceStatements.readReads, oneMore(most.reads)),
                    (DeviceStatements.readLogOfOrder, oneMore(most.log)),
                    (OrderStatements.readDocuments, [.text(key.orderType.text), .texts([key.order.text])]),
                    (OrderStatements.readFoldedLog, place), (OrderStatements.readErasure, place),
                ])
            }
        }
        guard let head = rows[0].first else { return nil }
        let verdicts = try Self.presentVerdicts(key, document: rows[6].first, log: rows[7], options)
        let events = try rows[2].map { try Self.event($0, verdicts) }.sorted {
            ($0.occurredAt, $0.receivedAt) < ($1.occurredAt, $1.receivedAt)
        }
        return OrderHistory(
            head: try OrderHead(head, orderType: key.orderType),
            erasedAt: try rows[8].first?.optionalTimestamp(0).map { Moment($0) },
            revisions: try rows[1].prefix(most.revisions).map { row in
                OrderHistory.Revision(
                    revision: try row.int(0),
                    modifiedAt: Moment(try row.timestamp(1)).wallTime,
                    recordedAt: Moment(try row.timestamp(2)),
                    cause: try row.text(3),
                    actor: try row.optionalText(4),
                    changes: try LockedOrder.told(try row.text(5)).pointers
                )
            },
            events: Array(events.suffix(most.events)),
            devices: try rows[3].prefix(most.devices).map { try Self.device($0) },
            reads: try rows[4].prefix(most.reads).map { row in
                OrderHistory.Reads(
                    revision: try row.int(0),
                    fullAnswers: try row.int(1),
                    notModified: try row.int(2),
                    firstAt: Moment(try row.timestamp(3)),
                    lastAt: Moment(try row.timestamp(4))
                )
            },
            log: try rows[5].prefix(most.log).map { try DeviceLogEntry($0) },
            truncated: [
                ("revisions", rows[1].count > most.revisions), ("events", events.count > most.events),
                ("devices", rows[3].count > most.devices), ("reads", rows[4].count > most.reads),
                ("log", rows[5].count > most.log),
            ].filter { $0.1 }.map { $0.0 }
        )
    }

    private static func presentVerdicts(
        _ key: OrderKey,
        document: Row?,
        log: Rows,
        _ options: ChangeOptions
    ) throws -> Verdicts {
        guard let document else { return [:] }
        let base = try stored { try FoldBase(json: try JSONValue(parsing: try document.bytes(2), limits: .stored)) }
        return options.fold.presentVerdicts(base, try ChangeRun.entries(log, key))
    }

    private static func event(_ row: Row, _ verdicts: Verdicts) throws -> OrderHistory.Event {
        let told = try LockedOrder.told(try row.text(5))
        return OrderHistory.Event(
            identifier: try row.text(0),
            kind: try row.text(1),
            occurredAt: Moment(try row.timestamp(2)),
            receivedAt: Moment(try row.timestamp(3)),
            verdict: try row.text(4),
            presentVerdict: verdicts[try row.text(0)]?.rawValue,
            changes: told.pointers,
            errors: told.complaints,
            revision: try row.int(6),
            actor: try row.optionalText(7)
        )
    }

    private static func device(_ row: Row) throws -> OrderHistory.Device {
        OrderHistory.Device(
            device: try stored { try DeviceIdentifier(try row.text(0)) },
            registeredAt: Moment(try row.timestamp(1)),
            tokenSince: try row.optionalTimestamp(2).map { Moment($0) },
            dueAt: try row.optionalTimestamp(3).map { Moment($0) },
            isInFlight: try row.bool(4),
            attempts: Int(try row.int(5)),
            pushedAt: try row.optionalTimestamp(6).map { Moment($0) },
            outcome: try row.optionalText(7),
            reason: try row.optionalText(8),
            isDead: try row.bool(9)
        )
    }
}
