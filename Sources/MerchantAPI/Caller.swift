// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

extension MerchantAPI {
    /// Lets a request pass that shows a key with the right scope, and turns the store's errors into problems.
    ///
    /// - Parameter heeded: of a route that writes, the switches that it heeds; the others are refused.
    internal func answering(
        _ request: HTTPRequest,
        _ scope: APIScope,
        heeding heeded: Switches? = nil,
        within time: Duration = OrderStore.answerTime,
        _ body: (APIKey) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        try await OrderStore.answering(within: time) {
            try await self.admitting(request, scope) { key in
                if let heeded {
                    try heeded.check(request)
                    try Self.checkCoding(request)
                }
                return try await body(key)
            }
        }
    }

    private func admitting(
        _ request: HTTPRequest,
        _ scope: APIScope,
        _ body: (APIKey) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        do {
            return try await body(try await self.caller(request.headers, scope))
        } catch let error as StoreError {
            // What the caller can do nothing about goes on to the engine, which logs it and says 500.
            guard let problem = Problem(error) else { throw error }
            throw problem
        } catch  where OrderStore.isUnavailable(error) {
            throw Problem.unavailable
        }
    }

    /// The key that a request shows, when it has the scope.
    private func caller(_ headers: HTTPFields, _ scope: APIScope) async throws -> APIKey {
        guard let presented = Self.bearer(headers["authorization"]),
            let key = try await self.store.authenticate(apiKey: presented)
        else {
            throw Problem(
                .unauthorized,
                code: "unauthorized",
                detail: "Send a merchant key: Authorization: Bearer wok_… ('walletorders keys create' makes one).",
                headers: ["www-authenticate": "Bearer"]
            )
        }
        guard key.scopes.contains(scope) || key.scopes.contains(.admin) else {
            throw Problem(
                .forbidden,
                code: "scope-missing",
                detail: "This key has not the scope \(scope.rawValue)."
            )
        }
        return key
    }

    /// Lets nobody send a large body who has no key for it.
    internal func gate(_ scope: APIScope) -> HTTPGate {
        { headers in
            do {
                _ = try await self.caller(headers, scope)
                return nil
            } catch let problem as Problem {
                return problem
            } catch {
                // The handler will say what it is; without a database the body would be read for nothing.
                return OrderStore.isUnavailable(error) ? .unavailable : nil
            }
        }
    }

    /// The order of a path, when the key may know of it. Another merchant's order is not there: 404, never 403.
    internal func orderKey(_ parameters: RouteParameters, _ key: APIKey) throws -> OrderKey {
        guard let type = try? OrderTypeIdentifier(parameters["type"]),
            let order = try? OrderIdentifier(parameters["order"]), key.isBound(to: type)
        else { throw Problem.orderNotFound }
        return OrderKey(type, order)
    }

    /// The head of an order that is there.
    ///
    /// - Throws: the problem of an order that is unknown, or that was erased.
    internal func head(_ key: OrderKey) async throws -> OrderHead {
        guard let head = try await self.store.head(key) else { throw Problem.orderNotFound }
        if head.isErased { throw Problem.orderErased }
        return head
    }

    /// The order type that a path or a list names, when the key may know of it and there is one: this process serves it, or
    /// the store knows it from one that does or did.
    internal func orderType(named text: String, _ key: APIKey) async throws -> OrderTypeIdentifier {
        guard let type = try? OrderTypeIdentifier(text), key.isBound(to: type) else { throw Problem.typeNotFound }
        if self.types[type] != nil { return type }
        guard try await self.store.orderTypes().contains(type) else { throw Problem.typeNotFound }
        return type
    }

    /// The order type of a path.
    internal func orderType(_ parameters: RouteParameters, _ key: APIKey) async throws -> OrderTypeIdentifier {
        try await self.orderType(named: parameters["type"], key)
    }

    private static func bearer(_ header: String?) -> String? {
        guard let header, header.utf8.count <= 512 else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Bodies are taken as they are: what comes packed is said to be, not to be no JSON or no image.
    private static func checkCoding(_ request: HTTPRequest) throws {
        guard let coding = request.headers["content-encoding"], coding.lowercased() != "identity" else { return }
        throw Problem(
            .unsupportedMediaType,
            code: "unsupported-coding",
            detail: "Bodies are taken without Content-Encoding only. Send it unpacked.",
            headers: ["accept-encoding": "identity"]
        )
    }

    /// The JSON value of a request's body. Clients that say nothing of its type, or what command lines say by default, mean
    /// JSON; a type that means something else would be misread.
    ///
    /// - Parameter type: the type that the route takes beside plain JSON.
    internal static func json(of request: HTTPRequest, as type: String = "application/json") throws -> JSONValue {
        let types = ["", "application/json", type, "application/x-www-form-urlencoded", "text/plain"]
        let said = (request.headers["content-type"] ?? "").prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        guard types.contains(said.lowercased()) else {
            throw Problem(
                .unsupportedMediaType,
                code: "unsupported-media-type",
                detail: "This route takes JSON: send Content-Type: \(type)."
            )
        }
        return try self.json(request.body)
    }

    /// The body's JSON value, or the problem that says where it stops being JSON.
    internal static func json(_ body: [UInt8]) throws -> JSONValue {
        do { return try JSONValue(parsing: body) } catch {
            var problem = Problem.unreadableJSON(error)
            problem.extensions["errors"] = [Finding(syntax: error).json]
            throw problem
        }
    }

    /// Refuses a body with members that its route does not know: one that is misspelt would be passed over.
    internal static func refuseUnknown(_ body: JSONObject, but known: [String], code: String) throws {
        let findings = body.keys.filter { !known.contains($0) }.map { name in
            Finding(
                severity: .error,
                code: "unknown-member",
                pointer: JSONPointer(tokens: [name]),
                message: "The body has no member of this name.",
                fix: "It may have \(known.map { "\"\($0)\"" }.joined(separator: ", "))."
            )
        }
        guard findings.isEmpty else { throw Problem.faulty(findings, status: .badRequest, code: code) }
    }

    /// The change options of a request: precondition, dry run, and who asks.
    internal func options(
        _ request: HTTPRequest,
        _ type: OrderTypeIdentifier,
        _ key: APIKey
    ) throws -> ChangeOptions {
        var options = ChangeOptions()
        options.ifMatch = self.precondition(request, type)
        options.validateOnly = try Self.validatesOnly(request)
        options.completeWhenFulfilled = self.types[type]?.completeWhenFulfilled ?? false
        options.validation = self.validation(type)
        options.actor = key.identifier
        return options
    }

    /// The strong validator of an order's document as it is shown here: with the web service URL that the settings of its
    /// type give it.
    internal func entityTag(_ tag: String, of type: OrderTypeIdentifier) -> String {
        String(tag.dropLast()) + self.settingsMark(type) + "\""
    }

    private func settingsMark(_ type: OrderTypeIdentifier) -> String {
        guard let url = self.types[type]?.webServiceURL else { return "" }
        return "-" + String(SHA256.hash(Array(url.utf8)).hex.prefix(8))
    }

    /// The request's `If-Match`, held against the store's tags: those of documents under other settings are none of them.
    private func precondition(_ request: HTTPRequest, _ type: OrderTypeIdentifier) -> Precondition {
        guard case .entityTags(let tags) = request.precondition else { return request.precondition }
        let end = self.settingsMark(type) + "\""
        return .entityTags(tags.filter { $0.hasSuffix(end) }.map { String($0.dropLast(end.count)) + "\"" })
    }

    /// Whether the request is a dry run. Anything but true and false is refused: a slip must not store what was only to be
    /// tried.
    internal static func validatesOnly(_ request: HTTPRequest) throws -> Bool {
        switch request.queryValue("validateOnly") {
        case "true": true
        case nil, "false": false
        default: throw Problem.badRequest("validateOnly must be true or false.", code: "bad-validate-only")
        }
    }

    internal func validation(_ type: OrderTypeIdentifier) -> ValidationOptions {
        let keeps = self.types[type]?.keepsUnknownFields ?? false
        return ValidationOptions(unknownMembers: keeps ? .accept : .refuse, isServiceFilled: true)
    }
}

extension APIKey {
    /// Whether the key may know of orders of a type; what it may do with them is its scopes' matter.
    internal func isBound(to type: OrderTypeIdentifier) -> Bool { self.orderTypes?.contains(type) ?? true }
}
