// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore

/// Images, receipts and labels, of one order or of all orders of a type that are made or changed from then on.
extension MerchantAPI {
    /// `PUT /api/v1/orders/{type}/{order}/assets/{path}`: makes a revision.
    internal func putOrderFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let file = try Self.file(parameters, request.body)
        let options = try self.options(request, orderKey.orderType, key)
        return self.response(try await self.store.putFile(file, of: orderKey, options), of: orderKey)
    }

    /// `GET /api/v1/orders/{type}/{order}/assets/{path}`: a file of the order's own.
    internal func getOrderFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard let path = try? PackagePath(parameters["path"]),
            let file = try await self.store.orderFile(path.text, of: orderKey)
        else {
            _ = try await self.head(orderKey)
            throw Problem.fileNotFound
        }
        return Self.response(file.contents, file.digest, request)
    }

    /// `DELETE /api/v1/orders/{type}/{order}/assets/{path}`: makes a revision; a file of the type takes its place.
    internal func removeOrderFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let options = try self.options(request, orderKey.orderType, key)
        let answer = try await self.store.removeFile(try Self.path(parameters).text, of: orderKey, options)
        return self.response(answer, of: orderKey)
    }

    /// `PUT /api/v1/order-types/{type}/assets/{path}`: for later revisions; `refresh` takes it to those there are.
    internal func putTypeFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        let file = try Self.file(parameters, request.body)
        let condition = request.headers.contains("if-none-match") ? FileCondition.absent : request.fileCondition
        try await self.store.putTypeFile(file, of: type, condition)
        var response = HTTPResponse.json([
            "path": .string(file.name), "size": .number(JSONNumber(Int64(file.contents.count))),
            "digest": .string(file.digest.hex), "warnings": try await self.warnings(of: type),
        ])
        response.headers["etag"] = Self.entityTag(file.digest)
        return response
    }

    /// `GET /api/v1/order-types/{type}/assets/{path}`.
    internal func getTypeFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        guard let (file, contents) = try await self.store.typeFile(try Self.path(parameters).text, of: type) else {
            throw Problem.fileNotFound
        }
        return Self.response(contents, file.digest, request)
    }

    /// `DELETE /api/v1/order-types/{type}/assets/{path}`: orders that have it pinned keep it until their next revision.
    internal func removeTypeFile(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        try await self.store.removeTypeFile(try Self.path(parameters).text, of: type, request.fileCondition)
        return HTTPResponse(.noContent)
    }

    /// `POST /api/v1/order-types/{type}/refresh`: takes changed files and strings of the type to its open orders, in batches
    /// by the worker.
    internal func refreshType(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        return Self.response(
            try await self.once(request, "POST /api/v1/order-types/{type}/refresh", of: type, key) {
                try await self.store.startRefresh(of: type)
                let answer: JSONValue = [
                    "orderTypeIdentifier": .string(type.text), "started": true,
                    "warnings": try await self.warnings(of: type),
                ]
                return (StoredAnswer(answer, status: 202), true)
            }
        )
    }

    /// What the type's files and texts have wrong for all orders that use them.
    internal func warnings(of type: OrderTypeIdentifier) async throws -> JSONValue {
        .array(try await self.store.typeFindings(of: type).capped().map(\.json))
    }

    /// The path of a file that is there; one that can be none is not found.
    private static func path(_ parameters: RouteParameters) throws -> PackagePath {
        guard let path = try? PackagePath(parameters["path"]) else { throw Problem.fileNotFound }
        return path
    }

    /// A file that was sent to a path.
    private static func file(_ parameters: RouteParameters, _ contents: [UInt8]) throws -> OrderFile {
        let text = parameters["path"]
        let path: PackagePath
        do { path = try PackagePath(text) } catch {
            let finding = Finding(
                severity: .error,
                code: "bad-path",
                path: text,
                message: error.message + ".",
                fix: error.fix
            )
            throw Problem.faulty([finding], code: "invalid-file")
        }
        do { return try UploadedFile.check(path, contents).get() } catch {
            throw Problem.faulty([error.finding], code: "invalid-file")
        }
    }

    fileprivate static func entityTag(_ digest: SHA256Digest) -> String { "\"\(digest.hex.prefix(32))\"" }

    /// A file's contents. They never change under their tag; what is at a path may.
    private static func response(_ contents: [UInt8], _ digest: SHA256Digest, _ request: HTTPRequest) -> HTTPResponse {
        let tag = self.entityTag(digest)
        let headers: HTTPFields = ["etag": tag, "cache-control": "private, no-cache"]
        if request.headers.ifNoneMatch(holds: tag) { return HTTPResponse(.notModified, headers: headers) }
        var response = HTTPResponse(.ok, headers: headers, body: .bytes(contents))
        response.headers["content-type"] = AssetFormat(contents)?.mediaType ?? "application/octet-stream"
        response.headers["x-content-type-options"] = "nosniff"
        return response
    }
}

extension HTTPRequest {
    /// The request's `If-Match`, of a file.
    fileprivate var fileCondition: FileCondition {
        switch self.precondition {
        case .none: .any
        case .exists: .present { _ in true }
        case .entityTags(let tags): .present { MerchantAPI.entityTag($0).isExactly(oneOf: tags) }
        }
    }
}

extension Problem {
    fileprivate static var fileNotFound: Problem { .notFound("There is no such file.", code: "asset-not-found") }
}
