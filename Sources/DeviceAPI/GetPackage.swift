// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore
internal import ServiceRuntime

extension DeviceAPI {
    /// `GET /v1/orders/{type}/{order}`: the signed package, or 304 when the device has it already.
    ///
    /// Source: Apple, "Get the latest version of an order"; caching by RFC 9110 13 as that page asks.
    internal func package(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        let head = try await self.authorize(request, parameters)
        let response = try await self.answer(request, head, gone: Self.unauthorized)
        self.reads.note(
            PackageRead(key: head.key, revision: head.revision, notModified: response.status == .notModified)
        )
        return response
    }

    /// `GET /o/{token}/{name}.order`: the package for who has the link; nothing tells a wrong link from an expired one.
    internal func sharedPackage(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        let name = parameters["name"]
        let gone = Problem.notFound("This link is not valid, or not any more.", code: "share-link-not-found")
        guard name.endsExactly(with: ".order"), parameters["token"].utf8.count <= 128,
            let key = try await self.store.shareLink(token: parameters["token"]),
            let head = try await self.store.head(key), !head.isErased
        else { throw gone }
        var response = try await self.answer(request, head, gone: gone)
        let file = name.utf8.allSatisfy(PackageHeaders.isFileNameByte) ? name : "order.order"
        response.headers["content-disposition"] = "attachment; filename=\"\(file)\""
        return response
    }

    /// The package of a revision or its 304.
    ///
    /// - Parameter gone: what to say when the order was erased a moment ago.
    private func answer(_ request: HTTPRequest, _ head: OrderHead, gone: Problem) async throws -> HTTPResponse {
        do {
            let tag = try self.packages.entityTag(of: head)
            let headers = PackageHeaders(entityTag: tag, modifiedAt: head.modifiedAt)
            if headers.isCurrent(for: request.headers) {
                return HTTPResponse(.notModified, headers: headers.fields)
            }
            guard let signed = try await self.packages.package(of: head) else { throw gone }
            // The revision may have moved on since the head was read: tag and date are those of the bytes.
            var fields = PackageHeaders(entityTag: signed.entityTag, modifiedAt: signed.head.modifiedAt).fields
            fields["content-type"] = PackageHeaders.mediaType
            return HTTPResponse(.ok, headers: fields, body: .chunks(signed.package.chunks))
        } catch let error as SignedPackagesError {
            self.logger.error(
                "a package can't be signed",
                [
                    "orderType": .string(head.key.orderType.text), "order": .string(head.key.mark),
                    "reason": .string(error.message),
                ]
            )
            throw Problem.serviceUnavailable(
                "The order can't be signed at present.",
                code: "package-unavailable",
                retryAfter: 300
            )
        }
    }
}
