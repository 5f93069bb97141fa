// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// `POST /api/v1/orders`: stores an order and gives the four values that the checkout hands to the phone.
    internal func createOrder(_ request: HTTPRequest, _ key: APIKey) async throws -> HTTPResponse {
        let submission = try OrderSubmission(request)
        let (type, settings, typeFinding) = self.orderType(of: submission, key)
        // Only the database's clock stamps data; a document with a date of its own does not need to ask for it.
        let clock =
            submission.order["createdAt"] == nil ? try await self.store.databaseTime().wallTime : WallTime.now()
        let intake = OrderIntake(
            now: clock.seconds,
            orderTypeIdentifier: type,
            orderIdentifier: try OrderIdentifier(SecureRandom.uuid()),
            webServiceURL: settings?.webServiceURL
        )
        let (json, intakeFindings) = intake.complete(submission.order)
        let (document, validationFindings) = OrderDocument.validate(
            json,
            type.map(self.validation) ?? ValidationOptions(isServiceFilled: true)
        )
        let found = (intakeFindings + validationFindings).map { $0.nested(under: Self.orderPointer) }
        let findings =
            submission.findings + (typeFinding.map { [$0] } ?? [])
            + found.filter { typeFinding == nil || $0.pointer != Self.typePointer }
        guard let document, let settings, !findings.contains(where: \.isError) else { throw Problem.faulty(findings) }

        var new = NewOrder(document: document, files: submission.files, strings: submission.strings)
        new.actor = key.identifier
        if try Self.validatesOnly(request) {
            let created = try await self.storing { try await self.store.validateCreate(new) }
            var answer = self.answer(created, findings)
            // Nothing is there to be linked to, nor has an order of this name been made.
            answer["links"] = JSONValue.null
            if submission.order["orderIdentifier"] == nil { answer["orderIdentifier"] = JSONValue.null }
            return Self.response(
                answer,
                token: nil,
                settings: settings,
                key: created.key,
                status: .ok
            )
        }
        if let value = request.headers["idempotency-key"] {
            new.idempotency = IdempotentRequest(
                route: "POST /api/v1/orders",
                key: try Self.idempotencyKey(value),
                fingerprint: submission.fingerprint(),
                answer: { created in
                    let body = JSONValue.object(self.answer(created, findings)).serialized()
                    return StoredAnswer(status: 201, body: String(decoding: body, as: UTF8.self))
                }
            )
        }
        switch try await self.storing({ [new] in try await self.store.create(new) }) {
        case .created(let created):
            return Self.response(
                self.answer(created, findings),
                token: created.authenticationToken,
                settings: settings,
                key: created.key,
                status: .created
            )
        // The token is missing when the order was erased, and the answer with it.
        case .replayed(_, _, nil): throw Problem.replayedErased
        case .replayed(let stored, let orderKey, let token?):
            guard case .object(let answer) = try JSONValue(parsing: Array(stored.body.utf8)) else {
                throw Problem.internalError
            }
            var response = Self.response(
                answer,
                token: token,
                settings: settings,
                key: orderKey,
                status: HTTPStatus(stored.status)
            )
            response.headers["idempotent-replayed"] = "true"
            return response
        }
    }

    private static let orderPointer = JSONPointer(tokens: ["order"])
    private static let typePointer = JSONPointer(tokens: ["order", "orderTypeIdentifier"])

    /// Lets the store's findings point into what the caller sent, where the order is a member.
    private func storing<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as StoreError where error.code == .invalidDocument {
            throw Problem.faulty(error.findings.map { $0.nested(under: Self.orderPointer) })
        }
    }

    /// The order type that the document names, or the only one that the key is bound to, and what is wrong with it.
    private func orderType(
        of submission: OrderSubmission,
        _ key: APIKey
    ) -> (type: OrderTypeIdentifier?, settings: OrderTypeSettings?, finding: Finding?) {
        func refused(_ code: String, _ message: String, _ fix: String) -> Finding {
            Finding(severity: .error, code: code, pointer: Self.typePointer, message: message, fix: fix)
        }
        let type: OrderTypeIdentifier
        switch submission.order["orderTypeIdentifier"] {
        case nil:
            guard let types = key.orderTypes, types.count == 1 else {
                let fix = "Name the order type; it may be left out only with a key that is bound to one."
                return (nil, nil, refused("missing-member", "orderTypeIdentifier is missing.", fix))
            }
            type = types[0]
        case .string(let text):
            do { type = try OrderTypeIdentifier(text) } catch {
                return (nil, nil, refused("bad-identifier", error.message + ".", error.fix))
            }
        case let other?:
            let message = "Expected a string, found \(other.typePhrase)."
            return (nil, nil, refused("wrong-type", message, "Send the identifier as a string."))
        }
        guard key.isBound(to: type) else {
            let fix = "Use a key that is bound to it."
            return (nil, nil, refused("order-type-not-allowed", "This key is not for the order type.", fix))
        }
        guard let settings = self.types[type] else {
            let fix = "Use a configured order type, or configure orderTypes.\(type.text)."
            let message = "This server has no certificate for the order type \(type.text)."
            return (type, nil, refused("order-type-not-served", message, fix))
        }
        return (type, settings, nil)
    }

    /// The answer without the token: what is stored for the next time the same request comes.
    private func answer(_ created: CreatedOrder, _ findings: [Finding]) -> JSONObject {
        var warnings = findings.filter { $0.severity == .warning }
        warnings += Finding.missingFiles(created.missingFiles, beside: created.fileFindings)
        warnings += created.fileFindings.map { $0.nested(under: Self.orderPointer) }
        let link = Self.link(created.key)
        return [
            "orderTypeIdentifier": .string(created.key.orderType.text),
            "orderIdentifier": .string(created.key.order.text),
            "revision": .number(JSONNumber(created.revision)), "updatedAt": .string(created.updatedAt.rfc3339),
            "orderDetails": .object([:]),
            "links": [
                "self": .string(link), "package": .string(link + "/package"), "history": .string(link + "/history"),
            ],
            "warnings": .array(warnings.capped().map(\.json)),
        ]
    }

    /// Puts the hand-off into an answer. The token is derived anew each time, never stored.
    private static func response(
        _ answer: JSONObject,
        token: String?,
        settings: OrderTypeSettings,
        key: OrderKey,
        status: HTTPStatus
    ) -> HTTPResponse {
        var answer = answer
        answer["orderDetails"] = token.map { self.orderDetails(key, token: $0, settings) } ?? .null
        var response = HTTPResponse.json(.object(answer), status: status)
        response.headers["cache-control"] = "no-store"
        if status == .created { response.headers["location"] = self.link(key) }
        return response
    }

    /// Exactly what `PKPaymentOrderDetails` and Apple Pay on the web take.
    internal static func orderDetails(_ key: OrderKey, token: String, _ settings: OrderTypeSettings) -> JSONValue {
        [
            "orderTypeIdentifier": .string(key.orderType.text), "orderIdentifier": .string(key.order.text),
            "webServiceURL": .string(settings.webServiceURL), "authenticationToken": .string(token),
        ]
    }

    /// The path of an order in this API.
    internal static func link(_ key: OrderKey) -> String {
        "/api/v1/orders/\(PercentEncoding.encode(key.orderType.text))/"
            + PercentEncoding.encode(key.order.text)
    }
}
