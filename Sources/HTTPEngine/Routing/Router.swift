// SPDX-License-Identifier: Apache-2.0

/// Leads requests to handlers by method and path.
///
/// `HEAD` is answered from `GET`, `OPTIONS` from what is there; a path without a route is 404, a method without one 405 with
/// `Allow`, a path that is not plainly encoded 400, all as problem documents. Lookup walks the path once.
package struct Router: Sendable {
    private var tree = RouteTree()
    private let isTolerant: Bool

    /// - Parameter tolerant: reads doubled and trailing slashes as one: for paths that clients glue together from a base
    ///   URL that may end in "/".
    package init(tolerant: Bool = false) { isTolerant = tolerant }

    /// Adds a route.
    /// - Parameters:
    ///   - pattern: "/orders/{type}/{order}"; the last segment may be "{path...}", one or more segments.
    ///   - prefix: what stands in front of it. It is data: braces in it are braces.
    ///   - bodyLimit: the largest body in bytes; larger is 413.
    ///   - name: what metrics call it; method and pattern when left out.
    ///   - gate: asked before a body is read that takes more than one read.
    /// - Precondition: the pattern is well-formed and new for this method.
    package mutating func on(
        _ method: HTTPMethod,
        _ pattern: String,
        under prefix: PathPrefix = .root,
        bodyLimit: Int = 64 * 1024,
        name: String? = nil,
        gate: HTTPGate? = nil,
        _ handler: @escaping HTTPHandler
    ) {
        let parsed = RoutePattern(pattern)
        let route = HTTPRoute(
            method: method,
            pattern: prefix.text + pattern,
            name: name ?? "\(method) \(prefix.text)\(pattern)",
            bodyLimit: bodyLimit,
            parameterNames: parsed.parameterNames,
            gate: gate,
            handler: handler
        )
        let segments = prefix.segments.map(RoutePattern.Segment.literal) + parsed.segments
        precondition(tree.insert(route, segments), "\(method) \(route.pattern) has a route already")
    }

    /// What a request leads to.
    /// - Parameter path: the target's path, percent-encoded as it came.
    package func match(_ method: HTTPMethod, _ path: String) -> RouteMatch {
        if path == "*", method == .options { return .options(allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") }
        let segments: [String]
        do { segments = try PathSegments(path, mergesSlashes: isTolerant).segments } catch { return .refused(error) }
        var values: [String] = []
        var allowed: [HTTPMethod] = []
        if let route = tree.find(method, segments, &values, &allowed) {
            return .route(route, RouteParameters(names: route.parameterNames, values: values))
        }
        guard !allowed.isEmpty else { return .refused(.notFound()) }
        let allow = Self.allow(allowed)
        return method == .options ? .options(allow: allow) : .refused(.methodNotAllowed(method, allow: allow))
    }

    /// Runs what a request leads to and turns whatever comes out into a response.
    ///
    /// - Parameters:
    ///   - match: what ``match(_:_:)`` said of this request.
    ///   - onError: is told of an error that is no ``Problem``, whose text the caller must not see.
    package func respond(
        to request: HTTPRequest,
        _ match: RouteMatch,
        onError: (any Error) -> Void = { _ in }
    ) async -> HTTPResponse {
        switch match {
        case .refused(let problem): return Self.refusal(problem, request)
        case .options(let allow): return HTTPResponse(.noContent, headers: ["allow": allow])
        case .route(let route, let parameters):
            guard request.hasDecodableQuery else { return Self.malformedQuery(request) }
            do {
                return try await route.handler(request, parameters)
            } catch {
                return Self.response(to: error, request, onError)
            }
        }
    }

    // Apart from `respond`, and never part of it: a task keeps room for all that its functions may need.

    @inline(never)
    private static func malformedQuery(_ request: HTTPRequest) -> HTTPResponse {
        Problem.badRequest(
            "A \"%\" in the query is not followed by two hex digits, the bytes are not UTF-8, or one is NUL (%00).",
            code: "malformed-query"
        ).response(requestIdentifier: request.identifier)
    }

    @inline(never)
    private static func response(
        to error: any Error,
        _ request: HTTPRequest,
        _ onError: (any Error) -> Void
    ) -> HTTPResponse {
        if let problem = error as? Problem { return problem.response(requestIdentifier: request.identifier) }
        onError(error)
        return Problem.internalError.response(requestIdentifier: request.identifier)
    }

    @inline(never)
    private static func refusal(_ problem: Problem, _ request: HTTPRequest) -> HTTPResponse {
        problem.response(requestIdentifier: request.identifier)
    }

    /// Matches and runs in one step, the body limit included: what tests of a station call.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let match = match(request.method, request.path)
        if case .route(let route, _) = match, request.body.count > route.bodyLimit {
            return Problem.contentTooLarge(limit: route.bodyLimit).response(requestIdentifier: request.identifier)
        }
        return await respond(to: request, match)
    }

    private static func allow(_ methods: [HTTPMethod]) -> String {
        var names = Set(methods.map(\.rawValue))
        if names.contains("GET") { names.insert("HEAD") }
        names.insert("OPTIONS")
        return names.sorted().joined(separator: ", ")
    }
}
