// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

extension DeviceAPI {
    /// Lets a request pass that shows the order's own token: `Authorization: AppleOrder <token>`.
    ///
    /// A malformed, unknown or erased order, a wrong token and a wrong scheme get the same answer after the same work, so
    /// that nobody learns which orders exist. The scheme's case does not matter (RFC 9110 11.1).
    ///
    /// - Throws: the 401 problem.
    internal func authorize(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> OrderHead {
        let key = Self.orderKey(parameters)
        let token = Self.token(in: request.headers["authorization"])
        guard let head = try await self.store.authorize(key ?? Self.unknownOrder, token: token ?? ""), key != nil,
            token != nil
        else { throw Self.unauthorized }
        return head
    }

    /// The 401 of all device routes.
    internal static let unauthorized = Problem(
        .unauthorized,
        code: "unauthorized",
        detail: "The order is unknown or the authentication token is not its own.",
        headers: ["www-authenticate": "AppleOrder"]
    )

    /// The order of a path; nil when the identifiers can't be any.
    internal static func orderKey(_ parameters: RouteParameters) -> OrderKey? {
        guard let type = try? OrderTypeIdentifier(parameters["type"]),
            let order = try? OrderIdentifier(parameters["order"])
        else { return nil }
        return OrderKey(type, order)
    }

    /// What is asked for when a path names no order, so that the work is the same; the answer is not used.
    private static let unknownOrder: OrderKey = {
        do {
            return OrderKey(try OrderTypeIdentifier("order.invalid"), try OrderIdentifier("-"))
        } catch {
            preconditionFailure("these identifiers are well-formed")
        }
    }()

    /// The token of a header's value, or nil when the scheme is another one or the form is wrong.
    internal static func token(in header: String?) -> String? {
        guard let header, header.utf8.count <= 1_024 else { return nil }
        let scheme = "appleorder "
        guard header.beginsCaseless(with: scheme) else { return nil }
        let token = header.utf8.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty || token.contains(UInt8(ascii: " ")) ? nil : String(Substring(token))
    }
}
