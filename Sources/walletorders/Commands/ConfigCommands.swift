// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime

/// `config show`: the values in force.
enum ConfigShowCommand: Command {
    static let description = CommandDescription(
        "walletorders config show",
        "Show the settings in force, secrets redacted.",
        options: [
            CommandLineOption("sources", "show where each value comes from"), CommandLineOption("json", "print JSON"),
        ] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let configuration = try await ServerConfiguration.read(arguments)
        var entries = configuration.values.entries.values.map { (key: $0.key, shown: $0.shown, source: $0.source) }
        if configuration.values.text("dataDir") == nil {
            // Where it is depends on the user.
            entries.append((key: "dataDir", shown: configuration.dataDirectory, source: .defaultValue))
        }
        entries.sort { $0.key < $1.key }
        if arguments.has("json") {
            var object = JSONObject()
            for entry in entries {
                object[entry.key] =
                    arguments.has("sources")
                    ? ["value": .string(entry.shown), "source": .string(entry.source.rawValue)] : .string(entry.shown)
            }
            Terminal.print(json: JSONValue.object(object))
            return
        }
        for entry in entries {
            let source = arguments.has("sources") ? "  (\(entry.source.rawValue))" : ""
            Terminal.print("\(entry.key) = \(Terminal.line(entry.shown))\(source)")
        }
    }
}

/// `config validate`: reads the settings and loads the identities; all faults at once.
enum ConfigValidateCommand: Command {
    static let description = CommandDescription(
        "walletorders config validate",
        "Check the settings and the certificates that they name.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let asJSON = arguments.has("json")
        do {
            let count = try await self.check(arguments)
            if asJSON { return self.print(faults: [], orderTypes: count) }
            Terminal.print("The configuration is valid; it has \(count) order type\(count == 1 ? "" : "s").")
        } catch let error as ConfigurationError where asJSON {
            self.print(faults: error.faults, orderTypes: nil)
            throw CommandFailure(.configuration, "")
        }
    }

    /// - Returns: how many order types there are.
    private static func check(_ arguments: CommandDescription.Arguments) async throws -> Int {
        // What can be read is looked into, whatever is wrong beside it.
        let configuration = try await ServerConfiguration.examine(arguments)
        var faults = configuration.faults
        do { _ = try await DeviceTLS.load(configuration, nil) } catch let error as ConfigurationError {
            faults += error.faults
        }
        do {
            faults += try await OrderTypeLoading.load(configuration.orderTypes).compactMap(OrderTypeLoading.fault)
        } catch let error as ConfigurationError {
            faults += error.faults
        }
        if !faults.isEmpty { throw ConfigurationError(faults) }
        return configuration.orderTypes.count
    }

    private static func print(faults: [String], orderTypes: Int?) {
        var object: JSONObject = [
            "valid": .bool(faults.isEmpty), "faults": .array(faults.map { .string($0) }),
        ]
        if let orderTypes { object["orderTypes"] = .number(JSONNumber(Int64(orderTypes))) }
        Terminal.print(json: .object(object))
    }
}
