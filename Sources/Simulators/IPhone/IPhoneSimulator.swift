// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ExactJSON
package import HTTPEngine
internal import OrderModel
package import OrderPackage
internal import ServiceRuntime

/// An iPhone as far as orders go: fetches, verifies by Apple's policy, registers, asks what changed, pulls again, removes.
///
/// It trusts nothing: every package is verified, its date must not go back, and its contents must be the order asked for.
///
/// Source: developer.apple.com/documentation/walletorders; the checks of spec 1.4, 2.1 and 6.
package actor IPhoneSimulator {
    /// An order in the phone's wallet.
    package struct WalletOrder: Sendable {
        /// What was handed over.
        package let details: OrderDetails
        /// The document of the package it holds.
        package fileprivate(set) var document: JSONValue
        /// The whole package as it came.
        package fileprivate(set) var package: [UInt8]
        fileprivate var lastModified: String?
        fileprivate var entityTag: String?
    }

    /// What a fetch brought.
    package enum Fetch: Sendable {
        /// A package that verified.
        case package(WalletOrder, report: VerificationReport)
        /// The phone's copy is the newest.
        case notModified
    }

    /// The device's name for itself, a secret that it shows to the web service only.
    package nonisolated let deviceIdentifier: String
    /// The token that pushes to it are addressed with.
    package nonisolated let pushToken: String
    private let client: HTTPClient
    private let roots: [Certificate]
    // short: identifiers that were checked.
    private var orders: [String: WalletOrder] = [:]
    // short: identifiers that were checked.
    private var tags: [String: String] = [:]

    /// Makes a phone without orders.
    ///
    /// - Parameters:
    ///   - client: how it reaches web services; its TLS settings say whom it trusts there.
    ///   - roots: the authorities of package signatures, beside Apple's own.
    package init(client: HTTPClient, roots: [Certificate], deviceIdentifier: String? = nil, pushToken: String? = nil) {
        self.client = client
        self.roots = roots
        self.deviceIdentifier = deviceIdentifier ?? Hex.encode(SecureRandom.bytes(16))
        self.pushToken = pushToken ?? Hex.encode(SecureRandom.bytes(32))
    }

    /// Fetches a handed-over order and puts it into the wallet.
    ///
    /// - Throws: `IPhoneError` with what was expected and what came.
    package func add(_ details: OrderDetails) async throws -> Fetch {
        try await self.fetch(details, unconditionally: true)
    }

    /// Fetches an order that is in the wallet; conditional, as the phone does it.
    ///
    /// - Parameter unconditionally: leaves the condition away.
    package func fetch(_ details: OrderDetails, unconditionally: Bool = false) async throws -> Fetch {
        let key = Self.key(details)
        let known = self.orders[key]
        var headers: HTTPFields = ["authorization": "AppleOrder \(details.authenticationToken)"]
        if !unconditionally, let known {
            // Both, as Apple's URL loading does; the tag decides (RFC 9110 13.2.2).
            if let tag = known.entityTag { headers["if-none-match"] = tag }
            if let lastModified = known.lastModified { headers["if-modified-since"] = lastModified }
        }
        let path =
            "/v1/orders/\(PercentEncoding.encode(details.orderType.text))/\(PercentEncoding.encode(details.order.text))"
        let response = try await self.send(.get, details.webServiceURL + path, headers)
        if response.status == .notModified {
            guard headers["if-none-match"] != nil || headers["if-modified-since"] != nil else {
                throw IPhoneError("GET package: expected 200, for no condition was sent, got 304")
            }
            guard response.body.isEmpty else {
                throw IPhoneError("expected a 304 without a body, got \(response.body.count) bytes")
            }
            return .notModified
        }
        guard response.status == .ok else {
            throw IPhoneError("GET package: expected 200, got \(response.status.code)")
        }
        let type = response.headers["content-type"] ?? "none"
        guard type.isExactly("application/vnd.apple.finance.order") else {
            throw IPhoneError("expected the media type application/vnd.apple.finance.order, got \(type)")
        }
        guard let lastModified = response.headers["last-modified"], WallTime(httpDate: lastModified) != nil else {
            let came = response.headers["last-modified"] ?? "none"
            throw IPhoneError("expected a Last-Modified in HTTP's form, got \(came)")
        }
        let report = PackageVerifier(trust: self.roots).verify(response.body)
        guard report.isValid, let document = report.order else {
            let faults = report.findings.filter { $0.severity == .error }.map { "\($0.code): \($0.message)" }
            throw IPhoneError("expected a package that verifies, got \(faults.joined(separator: "; "))")
        }
        guard document["orderIdentifier"]?.stringValue?.isExactly(details.order.text) == true,
            document["orderTypeIdentifier"]?.stringValue?.isExactly(details.orderType.text) == true
        else { throw IPhoneError("expected the package of order \(details.order.text), got another order's") }
        if let held = known?.document["updatedAt"]?.stringValue, let come = document["updatedAt"]?.stringValue,
            try OrderDate(parsing: come) < OrderDate(parsing: held)
        {
            throw IPhoneError("expected an updatedAt of \(held) or later, got \(come): Wallet keeps the newer copy")
        }
        let order = WalletOrder(
            details: details,
            document: document,
            package: response.body,
            lastModified: lastModified,
            entityTag: response.headers["etag"]
        )
        self.orders[key] = order
        return .package(order, report: report)
    }

    /// Registers for changes of an order.
    ///
    /// - Returns: whether the service did not know the registration yet (201, not 200).
    package func register(_ details: OrderDetails) async throws -> Bool {
        let body = JSONValue.object(["pushToken": .string(self.pushToken)]).serialized()
        let response = try await self.send(
            .post,
            self.registration(details),
            Self.authorized(details, ["content-type": "application/json"]),
            body
        )
        guard [.created, .ok].contains(response.status) else {
            throw IPhoneError("registration: expected 201 or 200, got \(response.status.code)")
        }
        return response.status == .created
    }

    /// Removes an order from the wallet and takes the registration back.
    package func remove(_ details: OrderDetails) async throws {
        let response = try await self.send(.delete, self.registration(details), Self.authorized(details, [:]))
        guard response.status == .ok else {
            throw IPhoneError("unregistration: expected 200, got \(response.status.code)")
        }
        self.orders[Self.key(details)] = nil
    }

    /// Asks which orders of a type have changed since the last time, and keeps the tag of the answer.
    package func changedOrders(like details: OrderDetails) async throws -> [String] {
        let type = details.orderType.text
        var url =
            "\(details.webServiceURL)/v1/devices/\(self.deviceIdentifier)/registrations/\(PercentEncoding.encode(type))"
        if let tag = self.tags[type] { url += "?ordersModifiedSince=\(PercentEncoding.encode(tag))" }
        // No Authorization: Apple's device sends none here.
        let response = try await self.send(.get, url, [:])
        if response.status == .noContent { return [] }
        guard response.status == .ok, let value = try? JSONValue(parsing: response.body),
            let orders = value["orderIdentifiers"]?.arrayValue, let tag = value["lastModified"]?.stringValue
        else {
            throw IPhoneError("list: expected orderIdentifiers and a string lastModified, got \(response.status.code)")
        }
        self.tags[type] = tag
        return orders.compactMap(\.stringValue)
    }

    /// Sends log lines, as a phone does that is displeased.
    package func log(_ lines: [String], to webServiceURL: String) async throws {
        let body = JSONValue.object(["logs": .array(lines.map { .string($0) })]).serialized()
        let response = try await self.send(.post, webServiceURL + "/v1/log", ["content-type": "application/json"], body)
        guard response.status == .ok else { throw IPhoneError("log: expected 200, got \(response.status.code)") }
    }

    /// The order as the wallet holds it.
    package func order(_ details: OrderDetails) -> WalletOrder? { self.orders[Self.key(details)] }

    private func registration(_ details: OrderDetails) -> String {
        "\(details.webServiceURL)/v1/devices/\(self.deviceIdentifier)/registrations/"
            + "\(PercentEncoding.encode(details.orderType.text))/\(PercentEncoding.encode(details.order.text))"
    }

    private static func authorized(_ details: OrderDetails, _ headers: HTTPFields) -> HTTPFields {
        var headers = headers
        headers["authorization"] = "AppleOrder \(details.authenticationToken)"
        return headers
    }

    private func send(
        _ method: HTTPMethod,
        _ url: String,
        _ headers: HTTPFields,
        _ body: [UInt8] = []
    ) async throws -> HTTPClientResponse {
        do {
            return try await self.client.send(
                try HTTPClientRequest(method, url, headers: headers, body: body),
                deadline: .seconds(15)
            )
        } catch {
            throw IPhoneError("\(method.rawValue) \(url): expected an answer, got: \(error)")
        }
    }

    private static func key(_ details: OrderDetails) -> String { "\(details.orderType.text)\u{0}\(details.order.text)" }
}
