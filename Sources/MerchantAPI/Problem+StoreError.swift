// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

/// The one place where the store's errors become problem documents.
extension Problem {
    internal init(_ error: StoreError) {
        let (status, code): (HTTPStatus, String) =
            switch error.code {
            case .orderNotFound: (.notFound, "order-not-found")
            case .orderErased: (.gone, "order-erased")
            case .orderExists: (.conflict, "order-exists")
            case .preconditionFailed: (.preconditionFailed, "precondition-failed")
            case .invalidDocument: (.unprocessableContent, "invalid-order")
            case .keyReused: (.unprocessableContent, "idempotency-key-reused")
            case .stillRunning: (.conflict, "request-in-progress")
            case .eventReused: (.unprocessableContent, "event-identifier-reused")
            case .aheadOfClock: (.tooManyRequests, "order-ahead-of-clock")
            case .busy: (.serviceUnavailable, "busy")
            case .assetNotFound: (.notFound, "asset-not-found")
            case .localizationNotFound: (.notFound, "localization-not-found")
            case .shareLinkNotFound: (.notFound, "share-link-not-found")
            case .apiKeyNotFound: (.notFound, "key-not-found")
            case .orderTypeNotFound: (.notFound, "order-type-not-found")
            case .badCursor: (.badRequest, "bad-cursor")
            case .badKeyFile, .unknownTokenKey, .corrupt: (.internalServerError, "internal-error")
            }
        if status == .internalServerError {
            self = .internalError
            return
        }
        self.init(status, code: code, detail: error.message)
        if !error.findings.isEmpty { self.extensions["errors"] = .array(error.findings.map(\.json)) }
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
        let count = findings.filter(\.isError).count
        return Problem(
            status,
            code: code,
            detail: "\(count) \(count == 1 ? "fault" : "faults"); errors lists all, each with its place and its fix.",
            extensions: ["errors": .array(findings.map(\.json))]
        )
    }

    /// The order is unknown, or another merchant's.
    internal static var orderNotFound: Problem {
        .notFound("There is no such order.", code: "order-not-found")
    }
}
