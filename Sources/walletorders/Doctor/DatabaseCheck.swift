// SPDX-License-Identifier: Apache-2.0
import OrderStore
import PostgreSQL
import ServiceRuntime

/// `doctor` on the database: there, of the right schema, with a clock that agrees with ours and rows that agree with each other.
struct DatabaseCheck {
    let configuration: ServerConfiguration
    let loops: EventLoopGroup

    /// How many seconds two clocks may be apart; each is read in whole ones.
    private static let tolerance: Int64 = 2

    func diagnoses() async -> [Diagnosis] {
        var settings: PostgresConfiguration
        do {
            guard let found = try self.settings() else {
                return [
                    .bad(
                        "database",
                        "none is configured, and none runs in \(self.configuration.dataDirectory)",
                        fix: "set database to a PostgreSQL URL, or start 'walletorders run' with the same --data-dir"
                    )
                ]
            }
            settings = found
        } catch {
            return [.bad("database", "\(error)", fix: "correct the setting database")]
        }
        let client = PostgresClient(configuration: settings, loops: self.loops, logger: Logger(label: "doctor"))
        var diagnoses = await self.diagnoses(client)
        await client.close()
        if diagnoses.allSatisfy({ $0.isGood || $0.subject == "clock" }) {
            settings.statementTimeout = Self.reportTime
            diagnoses.append(contentsOf: await self.rules(settings))
        }
        return diagnoses
    }

    /// How long one rule may take: each reads whole tables.
    private static let reportTime = Duration.seconds(600)

    /// What the tables keep without foreign keys, by the order in which rows are locked (store-design 6).
    private func rules(_ settings: PostgresConfiguration) async -> [Diagnosis] {
        let client = PostgresClient(configuration: settings, loops: self.loops, logger: Logger(label: "doctor"))
        let diagnoses: [Diagnosis]
        do {
            let reports = try await OrderStore.checkInvariants(on: client)
            let broken = reports.filter { $0.violations > 0 }
            diagnoses =
                broken.isEmpty
                ? [.good("rows", "\(reports.count) rules hold")]
                : broken.map { report in
                    .bad(
                        "rows",
                        "\(report.violations) break the rule that \(report.name)",
                        fix:
                            "keep a dump; see whether a table was changed by hand or restored in part. 'orders push' tells "
                            + "devices of an order anew"
                    )
                }
        } catch {
            diagnoses = [.bad("rows", "\(error)", fix: "see that the role may read all tables, and that there is room")]
        }
        await client.close()
        return diagnoses
    }

    private func settings() throws -> PostgresConfiguration? {
        var settings: PostgresConfiguration
        if let given = self.configuration.database {
            settings = given
        } else if let running = try PrivateCluster.running(in: self.configuration.dataDirectory) {
            settings = running
        } else {
            return nil
        }
        settings.connectionsPerLoop = 1
        return settings
    }

    private func diagnoses(_ client: PostgresClient) async -> [Diagnosis] {
        let version: String
        do {
            version = try await withDeadline(.seconds(6)) {
                try await client.query(Self.version).first?.text(0) ?? "unknown"
            }
        } catch {
            return [
                .bad(
                    "database",
                    "\(error)",
                    fix: "see that the server runs, takes connections from this machine, and knows role and password"
                )
            ]
        }
        var diagnoses: [Diagnosis] = [.good("database", "PostgreSQL \(version) answers")]
        do {
            let status = try await Migrator(OrderStore.migrations).status(on: client)
            diagnoses.append(Self.schema(status))
            if status.isCurrent, let keys = try await TokenKeysCheck.diagnosis(self.configuration, client) {
                diagnoses.append(keys)
            }
            diagnoses.append(try await self.clock(client))
        } catch {
            diagnoses.append(.bad("schema", "\(error)", fix: "see that the role may read all tables"))
        }
        return diagnoses
    }

    private static func schema(_ status: MigrationStatus) -> Diagnosis {
        if !status.pending.isEmpty {
            let count = status.pending.count
            return .bad(
                "schema",
                count == 1 ? "1 migration is missing" : "\(count) migrations are missing",
                fix: "run 'walletorders migrate'"
            )
        }
        if !status.unknown.isEmpty {
            return .bad("schema", "it is newer than this program", fix: "install the newer walletorders here too")
        }
        guard status.isCurrent else {
            return .bad(
                "schema",
                "it was made with another text than this program's",
                fix: "'walletorders migrate --status' says where; use the program that made it"
            )
        }
        return .good("schema", "up to date")
    }

    private func clock(_ client: PostgresClient) async throws -> Diagnosis {
        let before = WallTime.now().seconds
        let theirs = try await client.query(Self.time).first?.int(0) ?? 0
        let after = WallTime.now().seconds
        // It was read somewhere between the two: only what lies outside is a difference for sure.
        let difference = theirs < before ? before - theirs : max(0, theirs - after)
        if difference <= Self.tolerance { return .good("clock", "the database's and this machine's agree") }
        return .bad(
            "clock",
            "the database's clock is \(difference) s \(theirs < before ? "behind" : "ahead of") this machine's",
            fix: "let both machines follow a time server (chrony or systemd-timesyncd)"
        )
    }

    private static let version = Statement("doctor_version", "select current_setting('server_version')")
    private static let time = Statement(
        "doctor_time",
        "select extract(epoch from clock_timestamp())::bigint"
    )
}

/// `doctor` on the keys that orders' tokens are derived from.
enum TokenKeysCheck {
    /// Whether this machine's keys are the database's; nil when they are, or when there is none to compare.
    static func diagnosis(_ configuration: ServerConfiguration, _ client: PostgresClient) async throws -> Diagnosis? {
        let keys: TokenKeys.OnMachine
        do { keys = try await .read(configuration.dataDirectory + "/keys", makingFirst: false) } catch { return nil }
        guard let fault = try await keys.fault(client) else { return nil }
        return .bad("token keys", fault, fix: "see that all machines have the same files in keys/")
    }

    static func diagnoses(_ configuration: ServerConfiguration) async -> [Diagnosis] {
        let folder = configuration.dataDirectory + "/keys"
        do {
            let keys = try await TokenKeys.load(directory: folder, createIfMissing: false)
            return [.good("token keys", "\(folder): the newest is number \(keys.newest)")]
        } catch {
            let fix =
                await self.lacksKeys(folder)
                ? "copy the files of \(folder) from a machine that has them; on the first one 'walletorders migrate' "
                    + "makes them" : "mend that file; a damaged one is to be copied from another machine"
            return [.bad("token keys", "\(error)", fix: fix)]
        }
    }

    /// Whether a folder has no key: a key that can't be used is not missing, and is mended where it lies.
    static func lacksKeys(_ folder: String) async -> Bool { (try? await TokenKeys.isEmpty(folder)) ?? false }
}
