// SPDX-License-Identifier: Apache-2.0

package import OrderModel

/// Why the store did not do what it was asked: a code to switch on and a sentence for people.
///
/// The message never holds what a customer or merchant sent. A database that is away is a `PostgresError` instead.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Code: Sendable, Hashable {
        /// No such order.
        case orderNotFound
        /// The order was erased; only its tombstone is left.
        case orderErased
        /// The identifier is taken; ``StoreError/order`` names the order, unless it was erased.
        case orderExists
        /// `If-Match` named another state than the present one (RFC 9110 13.1.1).
        case preconditionFailed
        /// The document, or what it would become, breaks a rule; ``StoreError/findings`` says which.
        case invalidDocument
        /// A file is not what the order names it as; ``StoreError/findings`` says which.
        case invalidFile
        /// The order and its files make no package below Apple's limit; ``StoreError/findings`` names the largest.
        case packageTooLarge
        /// The idempotency key was used for another request.
        case keyReused
        /// A twin of this request, with the same idempotency key, is running.
        case stillRunning
        /// The event identifier was used for another event.
        case eventReused
        /// The order's `updatedAt` is more than an hour ahead of the clock, after very many changes in a short time.
        case aheadOfClock
        /// Another transaction held a row for too long.
        case busy
        /// No such file.
        case assetNotFound
        /// No strings for this locale.
        case localizationNotFound
        /// No such share link.
        case shareLinkNotFound
        /// No such API key.
        case apiKeyNotFound
        /// No such order type.
        case orderTypeNotFound
        /// A token key file is missing, readable by others, or no key.
        case badKeyFile
        /// A token was made with a key that is not in the ring.
        case unknownTokenKey
        /// A page cursor that this store did not make.
        case badCursor
        /// A stored row can't be read back.
        case corrupt
    }

    /// What went wrong.
    package let code: Code
    /// What, where, and what to do instead.
    package let message: String
    /// All faults of a document.
    package let findings: [Finding]
    /// The order that the error is about.
    package let order: OrderKey?
    /// Seconds to wait before the same request can succeed.
    package let retryAfter: Int?

    init(
        _ code: Code,
        _ message: String,
        findings: [Finding] = [],
        order: OrderKey? = nil,
        retryAfter: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.findings = findings
        self.order = order
        self.retryAfter = retryAfter
    }

    /// The sentence for people.
    package var description: String { message }

    static func notFound(_ key: OrderKey) -> StoreError {
        StoreError(.orderNotFound, "No order of this type has this identifier.", order: key)
    }

    static func erased(_ key: OrderKey) -> StoreError {
        StoreError(.orderErased, "The order was erased; its identifier can't be used again.", order: key)
    }

    static func changed(_ key: OrderKey) -> StoreError {
        StoreError(
            .preconditionFailed,
            "The order has changed since the version that If-Match names. Read it again.",
            order: key
        )
    }

    static func exists(_ key: OrderKey) -> StoreError {
        StoreError(
            .orderExists,
            "An order of this type has this identifier already. Change it with PATCH, PUT or an event.",
            order: key
        )
    }

    /// The same for one that was erased: nothing leads to it any more.
    static let existed = StoreError(
        .orderExists,
        "An order of this type had this identifier and was erased; its identifier can't be used again. Choose another."
    )

    static let busy = StoreError(
        .busy,
        "Another change of the same order or device held its row for too long. Send the request again.",
        retryAfter: 1
    )
}
