// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// How long a link lives when the request does not say, and at most, in seconds.
    private static let lifetime: (standard: Int64, longest: Int64) = (86_400, 30 * 86_400)

    /// `POST …/share-links`: an address of the package that nobody can guess; `{"lifetime": seconds}` is optional.
    internal func createShareLink(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard let head = try await self.store.head(orderKey), !head.isErased else { throw Problem.orderNotFound }
        var lifetime = Self.lifetime.standard
        if !request.body.isEmpty, let value = try Self.json(request.body)["lifetime"] {
            guard let seconds = value.int64Value, (1...Self.lifetime.longest).contains(seconds) else {
                throw Problem.badRequest(
                    "lifetime must be a whole number of seconds, at most \(Self.lifetime.longest)."
                )
            }
            lifetime = seconds
        }
        let link = try await self.store.createShareLink(for: orderKey, lifetime: .seconds(lifetime))
        let base = self.types[orderKey.orderType]?.webServiceURL ?? ""
        let name = orderKey.order.isURLSafe ? orderKey.order.text : "order"
        var response = HTTPResponse.json(
            [
                "identifier": .string(link.identifier), "expiresAt": .string(link.expiresAt.rfc3339),
                "url": .string("\(base.hasSuffix("/") ? String(base.dropLast()) : base)/o/\(link.token)/\(name).order"),
            ],
            status: .created
        )
        response.headers["cache-control"] = "no-store"
        return response
    }

    /// `DELETE …/share-links/{link}`.
    internal func revokeShareLink(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard try await self.store.revokeShareLink(parameters["link"], of: orderKey) else {
            throw Problem.notFound("There is no such link.", code: "share-link-not-found")
        }
        return HTTPResponse(.noContent)
    }
}
