// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderStore
import PostgreSQL
import ServiceRuntime

/// `migrate`: brings the database's schema up to date; any number of them at once.
enum MigrateCommand: Command {
    static let description = CommandDescription(
        "walletorders migrate",
        "Bring the database's schema up to date, or show what is missing (--status).",
        options: [
            CommandLineOption("status", "show which migrations are applied; exit 1 when some are not"),
            CommandLineOption("json", "print JSON"),
        ] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let showsStatus = arguments.has("status")
        let asJSON = arguments.has("json")
        let isCurrent = try await StoreAccess.run(arguments) { client, configuration in
            let migrator = Migrator(OrderStore.migrations)
            if !showsStatus {
                // `serve` needs the keys that orders' tokens are derived from, and makes none: each machine would have others.
                let data = try await DataDirectory(configuration.dataDirectory)
                _ = try await TokenKeys.load(directory: data.keys, createIfMissing: true)
                let applied = try await migrator.migrate(client, logger: Logger(label: "migrations"))
                let names = migrator.migrations.filter { applied.contains($0.version) }.map(\.name)
                Terminal.print(
                    asJSON
                        ? String(
                            decoding: JSONValue.object(["applied": .array(names.map { .string($0) })]).serialized(),
                            as: UTF8.self
                        )
                        : (names.isEmpty ? "The schema is up to date." : "Applied \(names.joined(separator: ", ")).")
                )
                return true
            }
            let status = try await migrator.status(on: client)
            if asJSON {
                let value: JSONValue = [
                    "pending": .array(status.pending.map { .number(JSONNumber(Int64($0))) }),
                    "unknown": .array(status.unknown.map { .number(JSONNumber(Int64($0))) }),
                ]
                Terminal.print(String(decoding: value.serialized(), as: UTF8.self))
            } else {
                Terminal.print(
                    status.pending.isEmpty
                        ? "The schema is up to date."
                        : "Not applied: \(status.pending.map(String.init).joined(separator: ", ")). Run 'walletorders migrate'."
                )
            }
            return status.pending.isEmpty
        }
        if !isCurrent { throw CommandFailure(.checkFailed, "") }
    }
}
