// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime

/// The JSON file of settings.
enum ConfigurationFile {
    /// What a file says.
    struct Contents: Sendable {
        /// Its values, with the keys of objects in objects joined by dots.
        var entries: [(key: String, text: String)] = []
        /// The order types that it names, also those that it says nothing of.
        var orderTypes: [String] = []
    }

    /// Reads a file and flattens its objects: `{"device": {"listen": "…"}}` is `device.listen`.
    ///
    /// - Throws: `CommandFailure` (66) when it can't be read, `ConfigurationError` when it is not JSON or has arrays.
    static func read(_ path: String) async throws -> Contents {
        let bytes: [UInt8]
        do { bytes = try await runBlocking { try Files.read(path, limit: 1 << 20) } } catch {
            throw CommandFailure(
                .inputUnreadable,
                "the configuration file can't be used: \(error); --config or WALLETORDERS_CONFIG names it"
            )
        }
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch { throw ConfigurationError(["\(path): \(error)"]) }
        guard case .object(let object) = value else {
            throw ConfigurationError(["\(path): must be a JSON object"])
        }
        var entries: [(key: String, text: String)] = []
        var faults: [String] = []
        self.flatten(object, under: "", into: &entries, &faults)
        if !faults.isEmpty { throw ConfigurationError(faults.map { "\(path): \($0)" }) }
        var orderTypes: [String] = []
        if case .object(let types)? = object["orderTypes"] { orderTypes = types.map(\.name) }
        return Contents(entries: entries, orderTypes: orderTypes)
    }

    private static func flatten(
        _ object: JSONObject,
        under prefix: String,
        into entries: inout [(key: String, text: String)],
        _ faults: inout [String]
    ) {
        for (name, value) in object {
            let key = prefix + name
            switch value {
            case .object(let inner): self.flatten(inner, under: key + ".", into: &entries, &faults)
            case .string(let text): entries.append((key, text))
            case .number(let number): entries.append((key, number.text))
            case .bool(let flag): entries.append((key, flag ? "true" : "false"))
            case .null: continue
            case .array: faults.append("\(key): takes one value, not an array")
            }
        }
    }
}
