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
        let type = try self.orderType(of: submission, key)
        guard let settings = self.types[type] else {
            throw Problem.faulty([
                Finding(
                    severity: .error,
                    code: "order-type-not-served",
                    pointer: JSONPointer(tokens: ["order", "orderTypeIdentifier"]),
                    message: "This server has no certificate for the order type \(type.text).",
                    fix: "Use a configured order type, or configure orderTypes.\(type.text)."
                )
            ])
        }
        let clock = try await self.store.databaseTime()
        let intake = OrderIntake(
            now: clock.wallTime.seconds,
            orderTypeIdentifier: type,
            orderIdentifier: try OrderIdentifier(SecureRandom.uuid()),
            webServiceURL: settings.webServiceURL
        )
        let (json, intakeFindings) = intake.complete(submission.order)
        let (document, validationFindings) = OrderDocument.validate(json, self.validation(type))
        let root = JSONPointer(tokens: ["order"])
        let findings =
            submission.findings + (intakeFindings + validationFindings).map { $0.nested(under: root) }
        guard let document, !findings.contains(where: \.isError) else { throw Problem.faulty(findings) }

        var new = NewOrder(document: document, files: submission.files, strings: submission.strings)
        new.actor = key.identifier
        if Self.validatesOnly(request) {
            let created = try await self.store.validateCreate(new)
            return Self.response(
                self.answer(created, findings),
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
                fingerprint: submission.fingerprint,
                answer: { created in
                    let body = JSONValue.object(self.answer(created, findings)).serialized()
                    return StoredAnswer(status: 201, body: String(decoding: body, as: UTF8.self))
                }
            )
        }
        switch try await self.store.create(new) {
        case .created(let created):
            return Self.response(
                self.answer(created, findings),
                token: created.authenticationToken,
                settings: settings,
                key: created.key,
                status: .created
            )
        case .replayed(let stored, let orderKey, let token):
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

    /// The order type that the document names, or the only one that the key is bound to.
    private func orderType(of submission: OrderSubmission, _ key: APIKey) throws -> OrderTypeIdentifier {
        let pointer = JSONPointer(tokens: ["order", "orderTypeIdentifier"])
        guard let text = submission.order["orderTypeIdentifier"]?.stringValue else {
            if let types = key.orderTypes, types.count == 1 { return types[0] }
            throw Problem.faulty([
                Finding(
                    severity: .error,
                    code: "missing-member",
                    pointer: pointer,
                    message: "orderTypeIdentifier is missing.",
                    fix: "Name the order type; it may be left out only with a key that is bound to one."
                )
            ])
        }
        do {
            let type = try OrderTypeIdentifier(text)
            if key.isBound(to: type) { return type }
        } catch {
            throw Problem.faulty([
                Finding(
                    severity: .error,
                    code: "bad-identifier",
                    pointer: pointer,
                    message: error.message,
                    fix: error.fix
                )
            ])
        }
        throw Problem.faulty([
            Finding(
                severity: .error,
                code: "order-type-not-allowed",
                pointer: pointer,
                message: "This key is not for the order type \(text).",
                fix: "Use a key that is bound to it."
            )
        ])
    }

    /// The answer without the token: what is stored for the next time the same request comes.
    private func answer(_ created: CreatedOrder, _ findings: [Finding]) -> JSONObject {
        var warnings = findings.filter { $0.severity == .warning }
        warnings += created.missingFiles.map { name in
            Finding(
                severity: .warning,
                code: "file-missing",
                path: name,
                message: "The order names \(name), and no such file is known.",
                fix: "Send it as a part of this name, or store it for the order type."
            )
        }
        let link = Self.link(created.key)
        return [
            "orderTypeIdentifier": .string(created.key.orderType.text),
            "orderIdentifier": .string(created.key.order.text),
            "revision": .number(JSONNumber(created.revision)), "updatedAt": .string(created.updatedAt.rfc3339),
            "orderDetails": .object([:]),
            "links": [
                "self": .string(link), "package": .string(link + "/package"), "history": .string(link + "/history"),
            ],
            "warnings": .array(warnings.map(\.json)),
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

    private static func idempotencyKey(_ value: String) throws -> String {
        // The draft standard writes the key as a quoted string; most send it bare.
        let key =
            value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            ? String(value.dropFirst().dropLast()) : value
        guard (1...255).contains(key.utf8.count) else {
            throw Problem.badRequest("Idempotency-Key must have 1 to 255 characters.", code: "bad-idempotency-key")
        }
        return key
    }

    /// The path of an order in this API.
    internal static func link(_ key: OrderKey) -> String {
        "/api/v1/orders/\(PercentEncoding.encode(key.orderType.text))/"
            + PercentEncoding.encode(key.order.text)
    }
}
