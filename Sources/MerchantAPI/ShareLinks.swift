// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// How long a link lives when the request does not say, at least and at most, in seconds.
    private static let lifetime: (standard: Int64, shortest: Int64, longest: Int64) = (86_400, 60, 30 * 86_400)

    /// `POST …/share-links`: an address of the package that nobody can guess; `{"lifetime": seconds}` is optional.
    internal func createShareLink(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        _ = try await self.head(orderKey)
        guard let settings = self.types[orderKey.orderType] else { throw Problem.typeNotServed }
        let lifetime = try Self.lifetime(request)
        var made: ShareLink?
        let outcome = try await self.once(
            request,
            "POST /api/v1/orders/{type}/{order}/share-links",
            of: orderKey.orderType,
            key,
            about: orderKey.order
        ) {
            let link = try await self.store.createShareLink(for: orderKey, lifetime: .seconds(lifetime))
            made = link
            // The address is no part of what is kept: it holds the secret, and is derived again for a replay.
            let answer: JSONValue = [
                "identifier": .string(link.identifier), "expiresAt": .string(link.expiresAt.rfc3339),
            ]
            return (StoredAnswer(answer, status: 201), true)
        }
        guard case .object(var answer) = try JSONValue(parsing: Array(outcome.answer.body.utf8)),
            let identifier = answer["identifier"]?.stringValue
        else { throw Problem.internalError }
        if let made, made.identifier != identifier {
            // A twin was faster, and its link is the one that is given out.
            _ = try await self.store.revokeShareLink(made.identifier, of: orderKey)
        }
        let isOurs = made?.identifier == identifier
        let link = isOurs ? made : try await self.store.shareLink(identifier, of: orderKey)
        answer["url"] = link.map { .string(Self.url($0, orderKey, settings)) } ?? .null
        var response = HTTPResponse.json(.object(answer), status: HTTPStatus(outcome.answer.status))
        response.headers["cache-control"] = "no-store"
        if outcome.isReplay { response.headers["idempotent-replayed"] = "true" }
        return response
    }

    /// `DELETE …/share-links/{link}`.
    internal func revokeShareLink(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard try await self.store.revokeShareLink(parameters["link"], of: orderKey) else {
            _ = try await self.head(orderKey)
            throw Problem.notFound("There is no such link.", code: "share-link-not-found")
        }
        return HTTPResponse(.noContent)
    }

    private static func lifetime(_ request: HTTPRequest) throws -> Int64 {
        if request.body.isEmpty { return self.lifetime.standard }
        guard case .object(let members) = try self.json(of: request) else {
            throw Problem.badRequest("The body must be an object, such as {\"lifetime\": 3600}, or empty.")
        }
        try Self.refuseUnknown(members, but: ["lifetime"], code: "bad-request")
        guard let value = members["lifetime"] else { return self.lifetime.standard }
        let (_, shortest, longest) = self.lifetime
        guard let seconds = value.int64Value, (shortest...longest).contains(seconds) else {
            throw Problem.badRequest(
                "lifetime must be a whole number of seconds from \(shortest) to \(longest).",
                code: "bad-lifetime"
            )
        }
        return seconds
    }

    /// The file name is the order's where it can stand in a URL as it is.
    private static func url(_ link: ShareLink, _ key: OrderKey, _ settings: OrderTypeSettings) -> String {
        var base = settings.webServiceURL
        // short: a setting.
        while base.hasSuffix("/") { base.removeLast() }
        return "\(base)/o/\(link.token)/\(key.order.isURLSafe ? key.order.text : "order").order"
    }
}
