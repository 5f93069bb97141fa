// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// `PATCH` (RFC 7396) and `PUT /api/v1/orders/{type}/{order}`.
    internal func changeOrder(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey,
        replaces: Bool
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let value = try Self.json(of: request, as: replaces ? "application/json" : "application/merge-patch+json")
        if let wrapper = OrderDocument.wrapperFinding(value) { throw Problem.faulty([wrapper]) }
        let options = try self.options(request, orderKey.orderType, key)
        let answer =
            replaces
            ? try await self.store.replace(orderKey, with: value, options)
            : try await self.store.patch(orderKey, with: value, options)
        return self.response(answer, of: orderKey)
    }

    /// What changed, as PATCH, PUT and the file routes of an order say it.
    internal func response(_ answer: ChangeAnswer, of key: OrderKey) -> HTTPResponse {
        let warnings =
            answer.findings.filter { $0.severity == .warning }
            + Finding.missingFiles(answer.missingFiles, beside: answer.findings)
        var response = HTTPResponse.json([
            "orderTypeIdentifier": .string(key.orderType.text), "orderIdentifier": .string(key.order.text),
            "revision": .number(JSONNumber(answer.revision)), "updatedAt": .string(answer.updatedAt.rfc3339),
            "changed": .array(answer.changed.map { .string($0) }), "warnings": .array(warnings.capped().map(\.json)),
        ])
        response.headers["etag"] = self.entityTag(answer.entityTag, of: key.orderType)
        response.headers["cache-control"] = "no-store"
        return response
    }

    /// `DELETE /api/v1/orders/{type}/{order}`: erases the personal data, keeps a tombstone.
    internal func eraseOrder(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        let options = try self.options(request, orderKey.orderType, key)
        guard try await self.store.erase(orderKey, options) else {
            _ = try await self.head(orderKey)
            throw Problem.orderNotFound
        }
        return HTTPResponse(.noContent)
    }

    /// `POST /api/v1/orders/{type}/{order}/events`: one change from an outside system.
    internal func postEvent(
        _ request: HTTPRequest,
        _ parameters: RouteParameters,
        _ key: APIKey
    ) async throws -> HTTPResponse {
        let orderKey = try self.orderKey(parameters, key)
        // The store judges occurredAt by its own clock.
        let (event, findings) = OrderEvent.parse(
            try Self.json(of: request),
            options: self.validation(orderKey.orderType)
        )
        let faults = findings + (event.map { Self.contradictions($0, orderKey) } ?? [])
        guard let event, !faults.contains(where: \.isError) else {
            throw Problem.faulty(faults, code: "invalid-event")
        }
        let options = try self.options(request, orderKey.orderType, key)
        let route = "POST /api/v1/orders/{type}/{order}/events"
        return Self.response(
            try await self.once(request, route, of: orderKey.orderType, key, about: orderKey.order) {
                (StoredAnswer(.object(Self.answer(try await self.apply(event, to: orderKey, options)))), true)
            }
        )
    }

    /// An event may name its order, as in a bulk request; then it has to be the one of the path: sent to a wrong address, it
    /// would tell another customer.
    private static func contradictions(_ event: OrderEvent, _ key: OrderKey) -> [Finding] {
        [
            ("orderTypeIdentifier", event.orderTypeIdentifier, key.orderType.text),
            ("orderIdentifier", event.orderIdentifier, key.order.text),
        ].compactMap { name, said, wanted in
            guard let said, !said.utf8.elementsEqual(wanted.utf8) else { return nil }
            return Finding(
                severity: .error,
                code: "identifier-changed",
                pointer: JSONPointer(tokens: [name]),
                message: "The event is of another order than its path.",
                fix: "Send it to its own order's events, or leave \"\(name)\" out."
            )
        }
    }

    /// What an event of a bulk request lacks to find its order.
    private static func nameless(_ event: JSONValue) -> [Finding] {
        guard let object = event.objectValue else { return [] }
        return ["orderTypeIdentifier", "orderIdentifier"].filter { object[$0] ?? .null == .null }.map { name in
            Finding(
                severity: .error,
                code: "missing-member",
                pointer: JSONPointer(tokens: [name]),
                message: "The event does not say which order it is about.",
                fix: "Add \"\(name)\", or send it to the order's own events."
            )
        }
    }

    private func apply(_ event: OrderEvent, to key: OrderKey, _ options: ChangeOptions) async throws -> EventAnswer {
        do { return try await self.store.apply(event, to: key, options) } catch let error as StoreError
            where error.code == .invalidDocument
        {
            throw Problem.faulty(error.findings, code: "invalid-event")
        }
    }

    /// `POST /api/v1/events`: up to a thousand changes; one bad one spoils none. Answers come in the order of the events.
    internal func postEvents(_ request: HTTPRequest, _ key: APIKey) async throws -> HTTPResponse {
        guard let body = try Self.json(of: request).objectValue, let list = body["events"]?.arrayValue else {
            throw Problem.badRequest("The body must be an object with the array \"events\".", code: "malformed-events")
        }
        try Self.refuseUnknown(body, but: ["events"], code: "malformed-events")
        guard list.count <= 1_000 else {
            throw Problem.badRequest("At most 1,000 events go into one request.", code: "too-many-events")
        }
        _ = try Self.validatesOnly(request)
        return Self.response(
            try await self.once(request, "POST /api/v1/events", of: nil, key, keeping: \.withoutQuotes) {
                // One is drawn already. An answer that was kept costs no more than that.
                self.limits.keys.draw(list.count - 1, of: RateLimiter.Key(key.identifier))
                let results = try await self.results(of: list, request, key)
                return (StoredAnswer(["results": .array(results)]), !results.contains(where: Self.mayPass))
            }
        )
    }

    /// Whether one event's result is a failure that the same request may not meet again: too much to do, or a fault of the
    /// service.
    private static func mayPass(_ result: JSONValue) -> Bool {
        guard let status = result["problem"]?["status"]?.int64Value else { return false }
        return status == 429 || status >= 500
    }

    /// An answer for each event, in their order.
    private func results(of list: [JSONValue], _ request: HTTPRequest, _ key: APIKey) async throws -> [JSONValue] {
        var results = [JSONValue](repeating: .null, count: list.count)
        var faults: [any Error] = []
        /// Events by order type: completion is a setting of the type.
        var groups: [OrderTypeIdentifier: [(index: Int, event: KeyedEvent)]] = [:]
        for (index, value) in list.enumerated() {
            // A thousand checks take a while, and other requests share this loop.
            if index % 50 == 49 { await Task.yield() }
            let type = value["orderTypeIdentifier"]?.stringValue.flatMap { try? OrderTypeIdentifier($0) }
            let options = type.map { self.validation($0) } ?? ValidationOptions(isServiceFilled: true)
            let (event, findings) = OrderEvent.parse(value, options: options)
            let faults = findings + Self.nameless(value)
            guard let event, !faults.contains(where: \.isError) else {
                results[index] = Self.failure(Self.invalidEvent(faults, index), value)
                continue
            }
            guard let type, let order = event.orderIdentifier.flatMap({ try? OrderIdentifier($0) }),
                key.isBound(to: type)
            else {
                results[index] = Self.failure(.orderNotFound, value)
                continue
            }
            groups[type, default: []].append((index, KeyedEvent(key: OrderKey(type, order), event: event)))
        }
        for (type, group) in groups {
            let answers = await self.store.apply(group.map(\.event), try self.options(request, type, key))
            for (entry, answer) in zip(group, answers) {
                switch answer {
                case .success(let answer): results[entry.index] = .object(Self.answer(answer, at: entry.index))
                case .failure(let error):
                    let problem = Self.problem(error, entry.index)
                    results[entry.index] = Self.failure(problem ?? .internalError, list[entry.index])
                    if problem == nil { faults.append(error) }
                }
            }
        }
        // One line in all: when a request is cancelled or the store breaks, each of a thousand events fails.
        if let fault = faults.first {
            self.logger.error(
                "events of a bulk request failed",
                [
                    "request": .string(request.identifier), "events": .integer(faults.count),
                    "reason": .string("\(fault)"),
                ]
            )
        }
        let failures = results.filter { $0["problem"]?["status"]?.int64Value == 503 }
        // Nothing was done: the whole request may be sent again.
        if !results.isEmpty, failures.count == results.count { throw Problem.unavailable }
        return results
    }

    /// What one event's failure is to the caller; it spoils none of the others. Nil when it is the operator's to know.
    private static func problem(_ error: any Error, _ index: Int) -> Problem? {
        if let error = error as? StoreError {
            if error.code == .invalidDocument { return self.invalidEvent(error.findings, index) }
            if let problem = Problem(error) { return problem }
        }
        return OrderStore.isUnavailable(error) ? .unavailable : nil
    }

    private static func invalidEvent(_ findings: [Finding], _ index: Int) -> Problem {
        let place = JSONPointer(tokens: ["events", String(index)])
        return .faulty(findings.map { $0.nested(under: place) }, code: "invalid-event")
    }

    /// - Parameter index: the event's place in a bulk request, into which pointers lead then.
    private static func answer(_ answer: EventAnswer, at index: Int? = nil) -> JSONObject {
        var object: JSONObject = [
            "eventIdentifier": .string(answer.eventIdentifier), "applied": .bool(answer.applied),
            "reason": .string(answer.reason), "revision": .number(JSONNumber(answer.revision)),
            "updatedAt": .string(answer.updatedAt.rfc3339),
            "changed": .array(answer.changed.map { .string($0) }), "duplicate": .bool(answer.duplicate),
        ]
        if !answer.errors.isEmpty {
            object["errors"] = .array(
                answer.errors.map { error in
                    guard let index, let pointer = error["pointer"]?.stringValue, case .object(var finding) = error
                    else { return error }
                    finding["pointer"] = .string("/events/\(index)" + pointer)
                    return .object(finding)
                }
            )
        }
        return object
    }

    /// A bad event's place in the results of a bulk request: the problem's document.
    private static func failure(_ problem: Problem, _ event: JSONValue) -> JSONValue {
        var document: JSONObject = [
            "status": .number(JSONNumber(Int64(problem.status.code))), "code": .string(problem.code),
        ]
        if let detail = problem.detail { document["detail"] = .string(detail) }
        for (name, value) in problem.extensions { document[name] = value }
        var result: JSONObject = ["problem": .object(document)]
        if let identifier = event["eventIdentifier"]?.stringValue { result["eventIdentifier"] = .string(identifier) }
        return .object(result)
    }
}
