// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import ExactJSON
package import OrderModel

extension OrderStore {
    /// Applies what an outside system reports. The same event again gets the same answer.
    ///
    /// - Throws: ``StoreError`` with `orderNotFound`, `orderErased`, `eventReused`, `preconditionFailed`,
    ///   `invalidDocument` (occurredAt more than 10 minutes ahead), `aheadOfClock`, `busy`.
    package func apply(
        _ event: OrderEvent,
        to key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> EventAnswer {
        let answers = await apply([KeyedEvent(key: key, event: event)], options)
        guard let answer = answers.first else { throw StoreError(.corrupt, "The event got no answer.") }
        return try answer.get()
    }

    /// Applies events of many orders, in chunks of 50 orders, each chunk one transaction and one mark. Events of one
    /// order make one revision; one bad event spoils none of the others.
    ///
    /// - Returns: an answer for each event, in their order; a failure is a ``StoreError`` or a `PostgresError`.
    package func apply(
        _ events: [KeyedEvent],
        _ options: ChangeOptions = ChangeOptions()
    ) async -> [Result<EventAnswer, any Error>] {
        var works: [OrderKey: OrderWork] = [:]
        for (index, item) in events.enumerated() {
            works[item.key, default: OrderWork(key: item.key)].edits.append(
                OrderWork.Edit(index: index, identifier: item.event.eventIdentifier, change: .event(item.event))
            )
        }
        let outcomes = await run(Array(works.values), options)
        return events.indices.map { index in
            switch outcomes[index] {
            case .success(.event(let answer)): .success(answer)
            case .failure(let error): .failure(error)
            case .success(.change), nil: .failure(StoreError(.corrupt, "The event got no answer."))
            }
        }
    }

    /// Changes members of the document (RFC 7396). Identifiers can't change.
    ///
    /// - Throws: ``StoreError`` with `orderNotFound`, `orderErased`, `preconditionFailed`, `invalidDocument` with all
    ///   faults of the document that would be, `aheadOfClock`, `busy`.
    package func patch(
        _ key: OrderKey,
        with patch: JSONValue,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .patch(patch), options)
    }

    /// Replaces the document. Identifiers and createdAt may be left out; identifiers can't change.
    ///
    /// - Throws: as ``patch(_:with:_:)``.
    package func replace(
        _ key: OrderKey,
        with document: JSONValue,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .replace(document), options)
    }

    /// Gives an order a file of its own.
    ///
    /// - Throws: ``StoreError`` with `orderNotFound`, `orderErased`, `preconditionFailed`, `aheadOfClock`, `busy`.
    package func putFile(
        _ file: OrderFile,
        of key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .putFile(file), options)
    }

    /// Takes a file of its own from an order; the type's file of that name, if there is one, takes its place.
    ///
    /// - Throws: as ``putFile(_:of:_:)``, and `assetNotFound`.
    package func removeFile(
        _ name: String,
        of key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .removeFile(name), options)
    }

    /// Gives an order strings of its own for a locale.
    ///
    /// - Throws: as ``putFile(_:of:_:)``.
    package func putStrings(
        _ table: JSONObject,
        locale: String,
        of key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .putStrings(locale: locale, table), options)
    }

    /// Takes an order's own strings for a locale; the type's stay.
    ///
    /// - Throws: as ``putFile(_:of:_:)``, and `localizationNotFound`.
    package func removeStrings(
        locale: String,
        of key: OrderKey,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> ChangeAnswer {
        try await change(key, .removeStrings(locale: locale), options)
    }

    private func change(
        _ key: OrderKey,
        _ change: OrderChange,
        _ options: ChangeOptions
    ) async throws -> ChangeAnswer {
        // The identifier is made outside of the transaction: a second run finds what the first one committed.
        let identifier = try EventIdentifier("edit " + SecureRandom.uuid())
        var work = OrderWork(key: key)
        work.edits = [OrderWork.Edit(index: 0, identifier: identifier, change: change)]
        let outcomes = await run([work], options)
        guard case .change(let answer) = try outcomes[0]?.get() else {
            throw StoreError(.corrupt, "The change got no answer.")
        }
        return answer
    }
}

/// One change of an order.
enum OrderChange: Sendable {
    case event(OrderEvent)
    case patch(JSONValue)
    case replace(JSONValue)
    case putFile(OrderFile)
    case removeFile(String)
    case putStrings(locale: String, JSONObject)
    case removeStrings(locale: String)
    /// Pins the type's files anew.
    case refresh

    /// The word in the order's history.
    var cause: String {
        switch self {
        case .event: "event"
        case .patch: "patch"
        case .replace: "put"
        case .putFile, .removeFile: "file"
        case .putStrings, .removeStrings: "strings"
        case .refresh: "refresh"
        }
    }

    var touchesFiles: Bool {
        switch self {
        case .event, .patch, .replace: false
        case .putFile, .removeFile, .putStrings, .removeStrings, .refresh: true
        }
    }
}

/// Changes of one order that one transaction makes.
struct OrderWork: Sendable {
    struct Edit: Sendable {
        /// Where the answer goes.
        let index: Int
        /// The entry's name in the log.
        let identifier: EventIdentifier
        let change: OrderChange
    }

    let key: OrderKey
    var edits: [Edit] = []

    init(key: OrderKey) {
        self.key = key
    }
}

/// What became of one change.
enum ChangeOutcome: Sendable {
    case event(EventAnswer)
    case change(ChangeAnswer)
}
