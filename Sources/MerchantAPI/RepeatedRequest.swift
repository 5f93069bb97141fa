// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

extension MerchantAPI {
    /// Does a POST once when it comes with an `Idempotency-Key`: the same request again gets the same answer, another one
    /// under the same key is refused.
    ///
    /// The key is taken first, so that of different requests under one key only one does anything. The same request twice
    /// at once may work twice: the work is safe to repeat by itself, and both get the first's answer. Creating an order has
    /// its own way, in one commit with the order.
    ///
    /// - Parameters:
    ///   - route: method and pattern; with the order type and the key it is the scope.
    ///   - type: nil for requests about many types: then the key's own types are the scope, so that no merchant meets
    ///     another's answers.
    ///   - order: the one order that the request is about: its erasure takes the kept answer's contents along.
    ///   - keeping: what of the answer is kept: of an answer about many orders, nothing that is anybody's.
    ///   - work: does it and makes the answer, which must hold no token. An answer that tells of a failure which may pass is
    ///     not final: it is given, but not kept, so that the same request can come again.
    internal func once(
        _ request: HTTPRequest,
        _ route: String,
        of type: OrderTypeIdentifier?,
        _ key: APIKey,
        about order: OrderIdentifier? = nil,
        keeping: (StoredAnswer) -> StoredAnswer = { $0 },
        work: () async throws -> (answer: StoredAnswer, isFinal: Bool)
    ) async throws -> (answer: StoredAnswer, isReplay: Bool) {
        guard let value = request.headers["idempotency-key"], try !Self.validatesOnly(request) else {
            return (try await work().answer, false)
        }
        let scope = type == nil ? " " + Self.scope(key) : ""
        let request = RequestKey(
            route: route + scope,
            key: try Self.idempotencyKey(value),
            fingerprint: Self.fingerprint(request),
            order: order
        )
        if let kept = try await self.store.takeKey(request, of: type) { return (try Self.replay(kept, request), true) }
        let answer: StoredAnswer
        do {
            let outcome = try await work()
            answer = outcome.answer
            if !outcome.isFinal {
                await self.leave(request, of: type)
                return (answer, false)
            }
        } catch {
            await self.leave(request, of: type)
            throw error
        }
        let kept = keeping(answer)
        let given = try await self.store.keepAnswer(kept, for: request, of: type)
        return given == kept ? (answer, false) : (try Self.replay(given, request), true)
    }

    /// Gives a key back. Without the database it stays taken for some minutes, for this request alone.
    private func leave(_ request: RequestKey, of type: OrderTypeIdentifier?) async {
        do {
            try await self.store.leaveKey(request, of: type)
        } catch {
            self.logger.warning(
                "an Idempotency-Key stays taken",
                ["route": .string(request.route), "error": "\(error)"]
            )
        }
    }

    /// A kept answer, as long as it tells anything: of one about an order that was erased since, only that is left to say.
    ///
    /// - Throws: the problem of an erased order.
    private static func replay(_ kept: StoredAnswer, _ request: RequestKey) throws(Problem) -> StoredAnswer {
        if request.order != nil, kept.isErased { throw .replayedErased }
        return kept
    }

    /// The response with a kept or fresh answer.
    internal static func response(_ outcome: (answer: StoredAnswer, isReplay: Bool)) -> HTTPResponse {
        var response = HTTPResponse(
            HTTPStatus(outcome.answer.status),
            headers: ["content-type": "application/json"],
            body: .bytes(Array(outcome.answer.body.utf8))
        )
        if outcome.isReplay { response.headers["idempotent-replayed"] = "true" }
        return response
    }

    /// The key that a header's value holds. The draft standard writes it as a quoted string; most send it bare.
    internal static func idempotencyKey(_ value: String) throws -> String {
        let isQuoted = value.utf8.count >= 2 && value.beginsExactly(with: "\"") && value.endsExactly(with: "\"")
        let key = isQuoted ? String(Substring(value.utf8.dropFirst().dropLast())) : value
        guard (1...255).contains(key.utf8.count) else {
            throw Problem.badRequest("Idempotency-Key must have 1 to 255 characters.", code: "bad-idempotency-key")
        }
        return key
    }

    private static func scope(_ key: APIKey) -> String {
        guard let types = key.orderTypes else { return "*" }
        let names = Set(types.map(\.text)).sorted().joined(separator: ",")
        return String(SHA256.hash(Array(names.utf8)).hex.prefix(32))
    }

    /// Over the path, which names the order, and the body however its JSON was written.
    private static func fingerprint(_ request: HTTPRequest) -> SHA256Digest {
        let body = (try? JSONValue(parsing: request.body))?.serialized(.canonical) ?? request.body
        return SHA256.hash([Array(request.path.utf8), [0], body])
    }
}

extension StoredAnswer {
    /// An answer of JSON.
    internal init(_ json: JSONValue, status: Int = 200) {
        self.init(status: status, body: String(decoding: json.serialized(), as: UTF8.self))
    }

    /// A bulk answer whose faults say what they are and where, and no more quote what was sent: which orders of many it was
    /// about is not noted, so none of them could take its part along when it is erased.
    internal var withoutQuotes: StoredAnswer {
        guard case .object(var answer)? = try? JSONValue(parsing: Array(self.body.utf8)),
            let results = answer["results"]?.arrayValue
        else { return self }
        answer["results"] = .array(
            results.map { result in
                // An event that was taken says there itself why it can't be applied.
                guard case .object(var object) = Self.withoutQuotes(inListsOf: result) else { return result }
                if let problem = object["problem"] { object["problem"] = Self.withoutQuotes(inListsOf: problem) }
                return .object(object)
            }
        )
        return StoredAnswer(.object(answer), status: self.status)
    }

    private static func withoutQuotes(inListsOf value: JSONValue) -> JSONValue {
        guard case .object(var object) = value else { return value }
        for list in ["errors", "warnings"] {
            guard let findings = object[list]?.arrayValue else { continue }
            object[list] = .array(findings.map { Self.withoutQuotes($0) })
        }
        return .object(object)
    }

    private static func withoutQuotes(_ finding: JSONValue) -> JSONValue {
        guard case .object(var object) = finding, let code = object["code"]?.stringValue else { return .null }
        object["message"] = .string(FindingCatalogue.meaning(of: code) ?? "See the table of codes.")
        object["fix"] = .null
        return .object(object)
    }
}
