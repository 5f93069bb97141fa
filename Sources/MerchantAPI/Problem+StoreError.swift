// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

/// The one place where the store's errors become problem documents.
extension Problem {
    /// The problem that a store's error is to a caller; nil for one that is the operator's to know, not the caller's.
    internal init?(_ error: StoreError) {
        let (status, code): (HTTPStatus, String)
        switch error.code {
        case .orderNotFound:
            self = .orderNotFound
            return
        case .orderErased:
            self = .orderErased
            return
        case .orderExists: (status, code) = (.conflict, "order-exists")
        case .preconditionFailed: (status, code) = (.preconditionFailed, "precondition-failed")
        case .invalidDocument: (status, code) = (.unprocessableContent, "invalid-order")
        case .invalidFile: (status, code) = (.unprocessableContent, "invalid-file")
        case .packageTooLarge: (status, code) = (.unprocessableContent, "package-too-large")
        case .keyReused: (status, code) = (.unprocessableContent, "idempotency-key-reused")
        case .stillRunning: (status, code) = (.conflict, "request-in-progress")
        case .eventReused: (status, code) = (.unprocessableContent, "event-identifier-reused")
        case .aheadOfClock: (status, code) = (.tooManyRequests, "order-ahead-of-clock")
        case .busy: (status, code) = (.serviceUnavailable, "busy")
        case .assetNotFound: (status, code) = (.notFound, "asset-not-found")
        case .localizationNotFound: (status, code) = (.notFound, "localization-not-found")
        case .shareLinkNotFound: (status, code) = (.notFound, "share-link-not-found")
        case .orderTypeNotFound: (status, code) = (.notFound, "order-type-not-found")
        case .badCursor: (status, code) = (.badRequest, "bad-cursor")
        case .apiKeyNotFound, .badKeyFile, .unknownTokenKey, .corrupt: return nil
        }
        self.init(status, code: code, detail: error.message)
        if !error.findings.isEmpty { self = .faulty(error.findings, status: status, code: code) }
        if let order = error.order {
            self.extensions["order"] = .string(MerchantAPI.link(order))
        }
        if let seconds = error.retryAfter { self.headers["retry-after"] = String(seconds) }
    }

    /// All faults of what was sent, with pointers into it.
    internal static func faulty(
        _ findings: [Finding],
        status: HTTPStatus = .unprocessableContent,
        code: String = "invalid-order"
    ) -> Problem {
        let all = findings.filter(\.isError)
        // As many as a check of the document lists; texts and files that came with it may have many more.
        let errors = all.capped(1_000)
        let warnings = findings.filter { $0.severity == .warning }.capped()
        var extensions: JSONObject = ["errors": .array(errors.map(\.json))]
        if !warnings.isEmpty { extensions["warnings"] = .array(warnings.map(\.json)) }
        return Problem(
            status,
            code: code,
            detail: "\(all.count) \(all.count == 1 ? "fault" : "faults"); errors lists "
                + (all.count == errors.count ? "all" : "the first") + ", each with its place and its fix.",
            extensions: extensions
        )
    }

    /// The database is away or overloaded.
    internal static var unavailable: Problem {
        .serviceUnavailable("The service can't answer for the moment. Send the request again.")
    }

    /// This process has no certificate for the order's type.
    internal static var typeNotServed: Problem {
        .serviceUnavailable("This server has no certificate for the order type.", code: "order-type-not-served")
    }

    /// Only the order's tombstone is left: nothing leads to it any more.
    internal static var orderErased: Problem {
        Problem(.gone, code: "order-erased", detail: "The order was erased; its identifier can't be used again.")
    }

    /// The same, to a request that was answered while the order was there.
    internal static var replayedErased: Problem {
        var problem = Problem.orderErased
        problem.headers["idempotent-replayed"] = "true"
        return problem
    }

    /// The order type is unknown, or another merchant's.
    internal static var typeNotFound: Problem {
        .notFound("There is no such order type.", code: "order-type-not-found")
    }

    /// The order is unknown, or another merchant's.
    internal static var orderNotFound: Problem {
        .notFound("There is no such order.", code: "order-not-found")
    }
}
