// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// Lets a request pass that shows a key with the right scope and does not come too soon after others, and turns the store's
    /// errors into problems. An answer tells what the key has left.
    ///
    /// - Parameter heeded: the parameters and switches that the route heeds; others are refused.
    internal func answering(
        _ request: HTTPRequest,
        _ scope: APIScope,
        heeding heeded: Switches = .reading,
        within time: Duration = OrderStore.answerTime,
        _ body: (APIKey) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        try await OrderStore.answering(within: time) {
            try await self.admitting(request, scope) { key in
                try heeded.check(request)
                try Self.checkCoding(request)
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
            let key = try await self.caller(request.headers, request.remoteAddress, scope, cost: 1)
            var response = try await body(key)
            self.limits.keys.show(to: RateLimiter.Key(key.identifier), in: &response.headers)
            return response
        } catch let error as StoreError {
            // What the caller can do nothing about goes on to the engine, which logs it and says 500.
            guard let problem = Problem(error) else { throw error }
            throw problem
        } catch  where OrderStore.isUnavailable(error) {
            throw Problem.unavailable
        }
    }

    /// The key that a request shows, when it has the scope.
    ///
    /// A key that was checked in the last seconds takes no query, so that a key over its limit costs next to nothing. One that
    /// is not known has to be looked up whatever its address did before: it may be a good one, which only its own limit refuses.
    ///
    /// - Parameter cost: what the key's bucket is drawn from; 0 when the request is judged once more.
    private func caller(
        _ headers: HTTPFields,
        _ address: String,
        _ scope: APIScope,
        cost: Int
    ) async throws -> APIKey {
        let presented = Self.bearer(headers["authorization"])
        guard let presented, let key = try await self.store.authenticate(apiKey: presented) else {
            if let holder = AddressHolder.of(address),
                let problem = self.limits.failures.refusal(of: RateLimiter.Key(holder))
            {
                throw problem
            }
            throw Problem(
                .unauthorized,
                code: "unauthorized",
                detail: presented == nil
                    ? "Send a merchant key: Authorization: Bearer wok_… ('walletorders keys create' makes one)."
                    : "The key is none of this server's: unknown, revoked, expired, or another server's"
                        + " ('walletorders keys list' shows those that are valid here).",
                headers: ["www-authenticate": "Bearer"]
            )
        }
        if let problem = self.limits.keys.refusal(of: RateLimiter.Key(key.identifier), cost: cost) { throw problem }
        guard key.scopes.contains(scope) || key.scopes.contains(.admin) else {
            // With the others that it has: who can write now would miss that next.
            let wanted = scope == .admin ? [scope] : key.scopes.union([scope])
            let options = wanted.map { "--scope \($0.rawValue)" }.sorted().joined(separator: " ")
            throw Problem(
                .forbidden,
                code: "scope-missing",
                detail: "This key has not the scope \(scope.rawValue)."
                    + " 'walletorders keys create --name NAME \(options)' makes one that has."
            )
        }
        return key
    }

    /// Lets nobody send a large body who has no key for it, or none that may be used now.
    internal func gate(_ scope: APIScope) -> HTTPGate {
        { headers, address in
            do {
                _ = try await self.caller(headers, address, scope, cost: 0)
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
        guard header.beginsCaseless(with: "bearer ") else { return nil }
        return String(Substring(header.utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }))
    }

    /// Bodies are taken as they are: what comes packed is said to be, not to be no JSON or no image.
    private static func checkCoding(_ request: HTTPRequest) throws {
        guard let coding = request.headers["content-encoding"], !coding.isCaseless("identity") else { return }
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
        let said = (request.headers["content-type"] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
        let bare = String(decoding: said.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }, as: UTF8.self)
        guard types.contains(where: { bare.isCaseless($0) }) else {
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
        let findings = [Finding].unknownMembers(
            of: body,
            known: known,
            fix: "It may have \(known.map { "\"\($0)\"" }.joined(separator: ", "))."
        )
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
        return .entityTags(
            tags.filter { $0.endsExactly(with: end) }.map { String(Substring($0.utf8.dropLast(end.utf8.count))) + "\"" }
        )
    }

    /// Whether the request is a dry run. Anything but true and false is refused: a slip must not store what was only to be
    /// tried.
    internal static func validatesOnly(_ request: HTTPRequest) throws -> Bool {
        switch request.queryValue("validateOnly").map(ExactKey.init) {
        case "true"?: true
        case nil, "false"?: false
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
