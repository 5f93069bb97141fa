// SPDX-License-Identifier: Apache-2.0
import OrderStore
import ServiceRuntime

/// The merchant key of `run`: made once and kept in a file of the data directory, since the database has its hash only.
enum RunKey {
    /// The key of the file, or a new one when there is none or the database does not know it.
    static func load(_ folder: String, _ store: OrderStore) async throws -> String {
        let path = folder + "/merchant-api.key"
        let kept = try await runBlocking { Files.exists(path) ? try Files.read(path, limit: 1_024) : [] }
        let text = String(decoding: kept.prefix { $0 != 0x0a }, as: UTF8.self)
        if !text.isEmpty, try await store.authenticate(apiKey: text) != nil { return text }
        let (_, secret) = try await store.createAPIKey(
            name: "run",
            scopes: [.ordersRead, .ordersWrite],
            orderTypes: nil,
            expiresAt: nil
        )
        try await runBlocking { try Files.write(Array((secret + "\n").utf8), to: path, mode: 0o600) }
        return secret
    }
}
