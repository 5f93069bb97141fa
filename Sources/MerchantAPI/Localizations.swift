// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

/// The texts of `order.strings`, of one order or of all orders of a type that are made or changed from then on.
extension MerchantAPI {
    /// `PUT /api/v1/orders/{type}/{order}/localizations/{locale}` with `{"KEY": "text"}`: makes a revision.
    internal func putOrderStrings(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let (locale, table) = try Self.strings(parameters, request)
        let options = try self.options(request, orderKey.orderType, key)
        let answer = try await self.store.putStrings(table, locale: locale, of: orderKey, options)
        return self.response(answer, of: orderKey)
    }

    /// `GET /api/v1/orders/{type}/{order}/localizations/{locale}`: the order's own texts, without the type's.
    internal func getOrderStrings(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        guard let locale = try? LocaleIdentifier(parameters["locale"]),
            let table = try await self.store.orderStrings(locale: locale.text, of: orderKey)
        else {
            _ = try await self.head(orderKey)
            throw Problem.stringsNotFound
        }
        return .json(.object(table))
    }

    /// `DELETE /api/v1/orders/{type}/{order}/localizations/{locale}`: makes a revision.
    internal func removeOrderStrings(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let options = try self.options(request, orderKey.orderType, key)
        let locale = try Self.locale(parameters)
        return self.response(try await self.store.removeStrings(locale: locale, of: orderKey, options), of: orderKey)
    }

    /// `PUT /api/v1/order-types/{type}/localizations/{locale}`: for later revisions.
    internal func putTypeStrings(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        let (locale, table) = try Self.strings(parameters, request)
        try await self.store.putTypeStrings(table, locale: locale, of: type)
        return .json([
            "locale": .string(locale), "texts": .number(JSONNumber(Int64(table.count))),
            "warnings": try await self.warnings(of: type),
        ])
    }

    /// `GET /api/v1/order-types/{type}/localizations/{locale}`.
    internal func getTypeStrings(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        let table = try await self.store.typeStrings(locale: try Self.locale(parameters), of: type)
        guard let table else { throw Problem.stringsNotFound }
        return .json(.object(table))
    }

    /// `DELETE /api/v1/order-types/{type}/localizations/{locale}`.
    internal func removeTypeStrings(_ parameters: RouteParameters, _ key: APIKey) async throws -> HTTPResponse {
        let type = try await self.orderType(parameters, key)
        try await self.store.removeTypeStrings(locale: try Self.locale(parameters), of: type)
        return HTTPResponse(.noContent)
    }

    /// The locale of texts that are there; one that can be none is not found.
    private static func locale(_ parameters: RouteParameters) throws -> String {
        guard let locale = try? LocaleIdentifier(parameters["locale"]) else { throw Problem.stringsNotFound }
        return locale.text
    }

    private static func strings(
        _ parameters: RouteParameters,
        _ request: HTTPRequest
    ) throws -> (locale: String, table: JSONObject) {
        let locale: LocaleIdentifier
        do { locale = try LocaleIdentifier(parameters["locale"]) } catch {
            let finding = Finding(
                severity: .error,
                code: "bad-locale",
                path: parameters["locale"],
                message: error.message + ".",
                fix: error.fix
            )
            throw Problem.faulty([finding], code: "invalid-localization")
        }
        let (table, findings) = StringsTable.read(try self.json(of: request))
        guard let object = table?.json.objectValue else { throw Problem.faulty(findings, code: "invalid-localization") }
        return (locale.text, object)
    }
}

extension Problem {
    fileprivate static var stringsNotFound: Problem {
        .notFound("There are no texts for this locale.", code: "localization-not-found")
    }
}
