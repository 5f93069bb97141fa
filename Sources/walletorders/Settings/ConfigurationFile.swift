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
        /// What is wrong with it, beside the values themselves: told together with their faults.
        var faults: [String] = []
    }

    /// Reads a file and flattens its objects: `{"device": {"listen": "…"}}` is `device.listen`.
    ///
    /// - Throws: `CommandFailure` (66) when it can't be read, `ConfigurationError` when it is no JSON object.
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
        var orderTypes: [String] = []
        if case .object(let types)? = object["orderTypes"] { orderTypes = types.map(\.name) }
        self.takeUnknown(&entries, of: orderTypes, &faults)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        for index in entries.indices { entries[index].text = self.located(entries[index], in: folder) }
        return Contents(entries: entries, orderTypes: orderTypes, faults: faults.map { "\(path): \($0)" })
    }

    /// A value as it is meant: the paths in a file are the same from wherever it is used, so they go from its folder.
    private static func located(_ entry: (key: String, text: String), in folder: String) -> String {
        let (key, text) = entry
        if key.hasSuffix(".listen"), text.hasPrefix("unix:"), text.utf8.count > 5, !text.hasPrefix("unix:/") {
            return "unix:" + folder + text.dropFirst(5)
        }
        let setting = Settings.all.first { $0.wildcard(in: key) != nil }
        guard setting?.isPath == true, !text.isEmpty, !text.hasPrefix("/") else { return text }
        return folder + text
    }

    /// Takes out the keys of order types that are no settings. Names of order types hold dots, so `orderTypes.a.b.identity`
    /// by itself may be the identity of `a.b`, or a misplaced key of `a`.
    private static func takeUnknown(
        _ entries: inout [(key: String, text: String)],
        of orderTypes: [String],
        _ faults: inout [String]
    ) {
        let pattern = "orderTypes.*."
        let known = Settings.all.map(\.key).filter { $0.hasPrefix(pattern) }.map { $0.dropFirst(pattern.count) }
        entries.removeAll { key, _ in
            let prefixes = orderTypes.map { "orderTypes.\($0)." }.filter { key.hasPrefix($0) }
            // The longest is the one that stands in the file, when one type's name begins with another's.
            guard let prefix = prefixes.max(by: { $0.count < $1.count }) else { return false }
            let rest = key.dropFirst(prefix.count)
            if known.contains(rest) { return false }
            // A word in the wrong place is told its own.
            let last = rest.split(separator: ".").last.map(String.init) ?? String(rest)
            let hint =
                Suggestion.nearest(to: String(rest), among: known.map(String.init))
                ?? known.first { $0.split(separator: ".").last.map(String.init) == last }.map(String.init)
            faults.append("unknown key \(key)" + (hint.map { "; did you mean \(prefix)\($0)?" } ?? ""))
            return true
        }
    }

    private static func flatten(
        _ object: JSONObject,
        under prefix: String,
        into entries: inout [(key: String, text: String)],
        _ faults: inout [String]
    ) {
        for (name, value) in object {
            let key = prefix + name
            var value = value
            if case .object = value {
            } else if entries.contains(where: { $0.key == key }) {
                faults.append("\(key): is given twice, with dots and as an object in an object; leave one out")
                value = .null
            }
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
