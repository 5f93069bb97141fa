// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderStore
import ServiceRuntime

/// `keys create`: makes a merchant API key and prints it, this once.
enum KeysCreateCommand: Command {
    static let description = CommandDescription(
        "walletorders keys create",
        "Make a merchant API key; it is printed once.",
        options: [
            CommandLineOption("name", value: "NAME", "what the key is for"),
            CommandLineOption(
                "scope",
                value: "SCOPE",
                repeatable: true,
                "orders:read, orders:write, or admin, which includes both; may be repeated (default: the first two)"
            ),
            CommandLineOption(
                "order-type",
                value: "ID",
                repeatable: true,
                "bind the key to an order type; may be repeated (default: all)"
            ),
            CommandLineOption("expires-in", value: "DAYS", "days until it expires (default: never)"),
            CommandLineOption("json", "print JSON"),
        ] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard let name = arguments["name"], name.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else {
            throw UsageError("--name says what the key is for")
        }
        // What is longer would be cut.
        guard name.utf8.count <= 200 else { throw UsageError("--name has at most 200 bytes, not \(name.utf8.count)") }
        var scopes: Set<APIScope> = []
        for text in arguments.all("scope") {
            guard let scope = APIScope(rawValue: text) else {
                throw UsageError("--scope is orders:read, orders:write or admin, not \(text)")
            }
            scopes.insert(scope)
        }
        if scopes.isEmpty { scopes = [.ordersRead, .ordersWrite] }
        var types: [OrderTypeIdentifier]?
        for text in arguments.all("order-type") {
            do { types = (types ?? []) + [try OrderTypeIdentifier(text)] } catch {
                throw UsageError("--order-type: \(error)")
            }
        }
        var expiry: WallTime?
        if let text = arguments["expires-in"] {
            guard let days = Int64(text), (1...36_500).contains(days) else {
                throw UsageError("--expires-in is a number of days from 1 to 36500, not \(text)")
            }
            expiry = WallTime(seconds: WallTime.now().seconds + days * 86_400)
        }
        let (allowed, bound, expires) = (scopes, types, expiry)
        let (key, secret, unknown) = try await StoreAccess.withStore(arguments) { store, configuration in
            let known = try await OrderOperands.known(store, configuration)
            let unknown = (bound ?? []).filter { !known.contains($0) }
            let (key, secret) = try await store.createAPIKey(
                name: name,
                scopes: allowed,
                orderTypes: bound,
                expiresAt: expires
            )
            return (key, secret, unknown.isEmpty ? nil : OrderOperands.unknown(unknown, known))
        }
        // A key may be made before the type that it is for.
        if let unknown { Terminal.complain("warning: the key is made, but there is \(unknown)") }
        Terminal.print(
            arguments.has("json")
                ? String(
                    decoding: JSONValue.object(["identifier": .string(key.identifier), "key": .string(secret)])
                        .serialized(),
                    as: UTF8.self
                )
                : secret
        )
    }
}

/// `keys list`: all merchant API keys, without their secrets.
enum KeysListCommand: Command {
    static let description = CommandDescription(
        "walletorders keys list",
        "List the merchant API keys.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let keys = try await StoreAccess.withStore(arguments) { store, _ in try await store.apiKeys() }
        if arguments.has("json") {
            let rows = keys.map { key -> JSONValue in
                [
                    "identifier": .string(key.identifier), "name": .string(key.name),
                    "scopes": .array(key.scopes.map(\.rawValue).sorted().map { .string($0) }),
                    "orderTypes": key.orderTypes.map { .array($0.map { .string($0.text) }) } ?? .null,
                    "createdAt": .string(key.createdAt.rfc3339),
                    "expiresAt": key.expiresAt.map { .string($0.rfc3339) } ?? .null,
                    "revokedAt": key.revokedAt.map { .string($0.rfc3339) } ?? .null,
                    "lastUsedAt": key.lastUsedAt.map { .string($0.rfc3339) } ?? .null,
                ]
            }
            Terminal.print(json: .array(rows))
            return
        }
        for key in keys {
            let state =
                key.revokedAt.map { "revoked \($0.rfc3339)" } ?? key.expiresAt.map { "until \($0.rfc3339)" } ?? "valid"
            let types = key.orderTypes.map { $0.map(\.text).joined(separator: ",") } ?? "all order types"
            var scopes = key.scopes.map(\.rawValue).sorted().joined(separator: ",")
            if key.scopes.contains(.admin) { scopes += " (all scopes)" }
            Terminal.print("\(key.identifier)  \(Terminal.line(key.name))  \(scopes)  \(types)  \(state)")
        }
    }
}

/// `keys revoke`: ends a merchant API key.
enum KeysRevokeCommand: Command {
    static let description = CommandDescription(
        "walletorders keys revoke",
        "Revoke merchant API keys, each by its identifier or as it was printed.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options,
        operands: "IDENTIFIER…"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard !arguments.operands.isEmpty else { throw UsageError("name the keys to revoke; 'keys list' shows them") }
        let identifiers = arguments.operands.map(self.identifier)
        // One that was revoked before is revoked: whoever asks again, after an answer that was lost, wants to hear that.
        let unknown = try await StoreAccess.withStore(arguments) { store, _ in
            var unknown: [String] = []
            for identifier in identifiers where try await !store.revokeAPIKey(identifier) { unknown.append(identifier) }
            return unknown
        }
        if arguments.has("json") {
            let revoked = identifiers.filter { !unknown.contains($0) }
            Terminal.print(
                json: [
                    "revoked": .array(revoked.map { .string($0) }), "unknown": .array(unknown.map { .string($0) }),
                ]
            )
        } else if unknown.count < identifiers.count {
            Terminal.print("Revoked. Servers heed it within 5 seconds.")
        }
        if !unknown.isEmpty { throw CommandFailure(.checkFailed, "no such key: \(unknown.joined(separator: ", "))") }
    }

    /// The identifier of a key that was given whole, `wok_IDENTIFIER_SECRET`: its secret belongs into no message.
    private static func identifier(_ operand: String) -> String {
        guard operand.hasPrefix("wok_") else { return operand }
        return String(operand.dropFirst(4).prefix { $0 != "_" })
    }
}
