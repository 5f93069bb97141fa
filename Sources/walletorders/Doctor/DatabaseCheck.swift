// SPDX-License-Identifier: Apache-2.0
import OrderStore
import PostgreSQL
import ServiceRuntime

/// `doctor` on the database: there, of the right schema, with a clock that agrees with ours.
struct DatabaseCheck {
    let configuration: ServerConfiguration
    let loops: EventLoopGroup

    /// How many seconds two clocks may be apart; each is read in whole ones.
    private static let tolerance: Int64 = 2

    func diagnoses() async -> [Diagnosis] {
        let settings: PostgresConfiguration
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
        let diagnoses = await self.diagnoses(client)
        await client.close()
        return diagnoses
    }

    private func settings() throws -> PostgresConfiguration? {
        var settings: PostgresConfiguration
        if let url = self.configuration.database {
            settings = try PostgresConfiguration(url: url.value)
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
            if !status.pending.isEmpty {
                diagnoses.append(
                    .bad("schema", "\(status.pending.count) migrations are missing", fix: "run 'walletorders migrate'")
                )
            } else if !status.unknown.isEmpty {
                diagnoses.append(
                    .bad("schema", "it is newer than this program", fix: "install the newer walletorders here too")
                )
            } else {
                diagnoses.append(.good("schema", "up to date"))
            }
            diagnoses.append(try await self.clock(client))
        } catch {
            diagnoses.append(.bad("schema", "\(error)", fix: "see that the role may read all tables"))
        }
        return diagnoses
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
    static func diagnoses(_ configuration: ServerConfiguration) async -> [Diagnosis] {
        let folder = configuration.dataDirectory + "/keys"
        do {
            let keys = try await TokenKeys.load(directory: folder, createIfMissing: false)
            return [.good("token keys", "\(folder): the newest is number \(keys.newest)")]
        } catch {
            return [
                .bad(
                    "token keys",
                    "\(error)",
                    fix:
                        "copy the files of \(folder) from a machine that has them; on the first one 'walletorders migrate' "
                        + "makes them"
                )
            ]
        }
    }
}
