// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// `GET /api/v1/orders/{type}/{order}`: the order as the next package will show it, without the token.
    internal func getOrder(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard let stored = try await self.store.order(orderKey) else {
            _ = try await self.head(orderKey)
            throw Problem.orderNotFound
        }
        let head = stored.head
        let headers: HTTPFields = [
            "etag": self.entityTag(head.entityTag, of: orderKey.orderType), "cache-control": "private, no-cache",
        ]
        if request.headers.ifNoneMatch(holds: headers["etag"] ?? "") {
            return HTTPResponse(.notModified, headers: headers)
        }
        var document = stored.document.objectValue ?? JSONObject()
        document["updatedAt"] = .string(head.modifiedAt.rfc3339)
        if let url = self.types[head.key.orderType]?.webServiceURL { document["webServiceURL"] = .string(url) }
        var response = HTTPResponse.json([
            "orderTypeIdentifier": .string(head.key.orderType.text),
            "orderIdentifier": .string(head.key.order.text), "revision": .number(JSONNumber(head.revision)),
            "updatedAt": .string(head.modifiedAt.rfc3339), "order": .object(document),
        ])
        response.headers.merge(headers)
        return response
    }

    /// `GET …/handoff`: the four values again.
    internal func getHandoff(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let head = try await self.head(orderKey)
        guard let settings = self.types[orderKey.orderType] else { throw Problem.typeNotServed }
        let token = try self.store.authenticationToken(for: head)
        var response = HTTPResponse.json(["orderDetails": Self.orderDetails(orderKey, token: token, settings)])
        response.headers["cache-control"] = "no-store"
        return response
    }

    /// `GET …/package`: the signed package, for shops that deliver it themselves.
    internal func getPackage(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let head = try await self.head(orderKey)
        do {
            let tag = try self.packages.entityTag(of: head)
            if request.headers.ifNoneMatch(holds: tag) {
                return HTTPResponse(.notModified, headers: ["etag": tag, "cache-control": "private, no-cache"])
            }
            guard let signed = try await self.packages.package(of: head) else { throw Problem.orderErased }
            return HTTPResponse(
                .ok,
                headers: [
                    "content-type": OrderPackage.mediaType, "etag": signed.entityTag,
                    "content-disposition": "attachment; filename=\"order.order\"", "cache-control": "private, no-cache",
                ],
                body: .chunks(signed.package.chunks)
            )
        } catch let error as SignedPackagesError {
            self.logger.error(
                "a package can't be signed",
                [
                    "orderType": .string(head.key.orderType.text), "order": .string(head.key.mark),
                    "reason": .string(error.message),
                ]
            )
            throw Problem.serviceUnavailable(error.message, code: "package-unavailable", retryAfter: 300)
        }
    }

    /// `GET /api/v1/orders`: a page of orders.
    internal func listOrders(_ request: HTTPRequest, _ key: APIKey) async throws -> HTTPResponse {
        let query = try await self.query(request, key)
        let page = try await self.store.orders(query)
        var answer: JSONObject = [
            "orders": .array(
                page.heads.map { head in
                    [
                        "orderTypeIdentifier": .string(head.key.orderType.text),
                        "orderIdentifier": .string(head.key.order.text),
                        "orderNumber": head.orderNumber.map { .string($0) } ?? .null,
                        "status": .string(head.status),
                        "fulfillmentStatuses": .array(head.fulfillmentStatuses.map { .string($0) }),
                        "revision": .number(JSONNumber(head.revision)),
                        "createdAt": .string(head.createdAt.rfc3339), "updatedAt": .string(head.modifiedAt.rfc3339),
                        "self": .string(Self.link(head.key)),
                    ]
                }
            )
        ]
        answer["cursor"] = page.cursor.map { .string($0) } ?? .null
        var response = HTTPResponse.json(.object(answer))
        response.headers["cache-control"] = "private, no-store"
        return response
    }

    /// The parameters of a list.
    internal static let filters = [
        "type", "status", "fulfillmentStatus", "updatedSince", "orderNumber", "registered", "limit", "cursor",
    ]

    private func query(_ request: HTTPRequest, _ key: APIKey) async throws -> OrderQuery {
        let text = request.queryValue("type") ?? key.orderTypes.flatMap { $0.count == 1 ? $0[0].text : nil }
        guard let text else {
            throw Problem.badRequest("Name the order type: ?type=order.com.example.shop", code: "type-missing")
        }
        var query = OrderQuery(orderType: try await self.orderType(named: text, key))
        query.status = try Self.word("status", request, OrderStatus.allCases.map(\.rawValue))
        query.fulfillmentStatus = try Self.word(
            "fulfillmentStatus",
            request,
            FulfillmentStatus.allCases.map(\.rawValue)
        )
        query.orderNumber = request.queryValue("orderNumber")
        query.cursor = request.queryValue("cursor")
        if let text = request.queryValue("updatedSince") {
            guard let date = try? OrderDate(parsing: text) else {
                throw Problem.badRequest(
                    "updatedSince must be RFC 3339, such as 2026-01-02T03:04:05Z, with + as %2B in a URL."
                )
            }
            query.updatedSince = WallTime(seconds: date.seconds)
        }
        if let text = request.queryValue("registered") {
            guard text.isExactly(oneOf: ["true", "false"]) else {
                throw Problem.badRequest("registered must be true or false.")
            }
            query.registered = text.isExactly("true")
        }
        if let text = request.queryValue("limit") {
            guard let limit = Int(text), (1...200).contains(limit) else {
                throw Problem.badRequest("limit must be a whole number from 1 to 200.")
            }
            query.limit = limit
        }
        return query
    }

    /// A parameter that takes one of some words; nil when it is not given.
    private static func word(_ name: String, _ request: HTTPRequest, _ words: [String]) throws -> String? {
        guard let text = request.queryValue(name) else { return nil }
        guard text.isExactly(oneOf: words) else {
            throw Problem.badRequest("\(name) must be one of \(words.joined(separator: ", ")).")
        }
        return text
    }

    /// `GET …/history`: what happened to an order, from change to push to pull.
    internal func getHistory(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let options = try self.options(request, orderKey.orderType, key)
        guard let history = try await self.store.history(orderKey, options) else { throw Problem.orderNotFound }
        var response = HTTPResponse.json(history.json)
        response.headers["cache-control"] = "private, no-store"
        return response
    }
}
