// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime

/// The JSON file of settings.
enum ConfigurationFile {
    /// Reads a file and flattens its objects: `{"device": {"listen": "…"}}` is `device.listen`.
    ///
    /// - Throws: `CommandFailure` (66) when it can't be read, `ConfigurationError` when it is not JSON or has arrays.
    static func read(_ path: String) async throws -> [(key: String, text: String)] {
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
        return entries
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
