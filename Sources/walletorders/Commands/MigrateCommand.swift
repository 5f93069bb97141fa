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
            CommandLineOption("status", "show where the schema stands; exit 1 unless it is this program's"),
            CommandLineOption("json", "print JSON"),
        ] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let showsStatus = arguments.has("status")
        let asJSON = arguments.has("json")
        let isCurrent = try await StoreAccess.run(arguments) { client, configuration in
            let migrator = Migrator(OrderStore.migrations)
            if !showsStatus {
                let data = try await DataDirectory(configuration.dataDirectory)
                let keys = try await Self.tokenKeys(data)
                let applied = try await migrator.migrate(client, logger: Logger(label: "migrations"))
                // `serve` needs the keys that orders' tokens are derived from, and makes none: each machine would have others.
                _ = try await Database.settle(keys, client)
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
                    "changed": .array(
                        status.entries.filter(\.isChanged).map { .number(JSONNumber(Int64($0.version))) }
                    ),
                ]
                Terminal.print(String(decoding: value.serialized(), as: UTF8.self))
            } else {
                for line in self.lines(status) { Terminal.print(line) }
            }
            return status.isCurrent
        }
        if !isCurrent { throw CommandFailure(.checkFailed, "") }
    }

    private static func tokenKeys(_ data: DataDirectory) async throws -> TokenKeys.OnMachine {
        do { return try await .read(data.keys, makingFirst: true) } catch let error as StoreError {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    /// Where the schema stands, in words.
    private static func lines(_ status: MigrationStatus) -> [String] {
        if status.isCurrent { return ["The schema is up to date."] }
        func list(_ versions: [Int]) -> String { versions.map(String.init).joined(separator: ", ") }
        var lines: [String] = []
        if !status.pending.isEmpty {
            lines.append("Not applied: \(list(status.pending)). Run 'walletorders migrate'.")
        }
        if !status.unknown.isEmpty {
            lines.append(
                "Applied, and unknown to this program: \(list(status.unknown)). The schema is newer: install the newer program."
            )
        }
        let changed = status.entries.filter(\.isChanged).map(\.version)
        if !changed.isEmpty {
            lines.append(
                "Applied with another text than this program's: \(list(changed)). Use the program that made the schema."
            )
        }
        return lines
    }
}
