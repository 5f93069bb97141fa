// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

extension DeviceAPI {
    /// `GET /v1/devices/{device}/registrations/{type}?ordersModifiedSince={tag}`: the orders that changed since, or 204.
    ///
    /// Never asks for Authorization: the device identifier is the secret. The tag goes out as a string; as a number, devices
    /// stop after this call. A tag that was never given out means "all".
    ///
    /// Source: Apple, "Get the list of updatable orders".
    internal func changedOrders(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        guard let type = try? OrderTypeIdentifier(parameters["type"]) else { return HTTPResponse(.noContent) }
        let device = try Self.device(parameters)
        let since = request.queryValue("ordersModifiedSince")
        guard let changed = try await self.store.changedOrders(of: device, orderType: type, since: since) else {
            return HTTPResponse(.noContent)
        }
        var response = HTTPResponse.json([
            "orderIdentifiers": .array(changed.orders.map { .string($0.text) }), "lastModified": .string(changed.tag),
        ])
        response.headers["cache-control"] = "private, no-store"
        return response
    }
}
