// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime

/// `doctor`: looks at everything that pushes and packages depend on, and says what to do about what is wrong.
enum DoctorCommand: Command {
    static let description = CommandDescription(
        "walletorders doctor",
        "Check configuration, database, clock, rows, certificates and the way to APNs; exit 1 when a check failed.",
        options: [
            CommandLineOption("offline", "leave APNs alone: nothing leaves this machine but what goes to the database"),
            CommandLineOption("json", "print JSON"),
        ] + Settings.options
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let diagnoses = try await self.examine(arguments)
        let isWell = diagnoses.allSatisfy(\.isGood)
        if arguments.has("json") {
            Terminal.print(json: ["ok": .bool(isWell), "checks": .array(diagnoses.map(\.json))])
        } else {
            for diagnosis in diagnoses { Terminal.print(diagnosis.text) }
        }
        if !isWell { throw CommandFailure(.checkFailed, "") }
    }

    private static func examine(_ arguments: CommandDescription.Arguments) async throws -> [Diagnosis] {
        let configuration: ServerConfiguration
        do { configuration = try await ServerConfiguration.read(arguments) } catch {
            let faults = (error as? ConfigurationError)?.faults ?? ["\(error)"]
            return faults.map { .bad("configuration", $0, fix: "correct this setting; the other checks wait for it") }
        }
        LogSink.standardError.setLevel(.error)
        var diagnoses: [Diagnosis] = [
            .good(
                "configuration",
                "\(configuration.values.entries.count) settings, \(configuration.orderTypes.count) order types"
            )
        ]
        diagnoses.append(self.descriptors(Descriptors(configuration)))
        let loops = try EventLoopGroup(count: 1, name: "loop")
        diagnoses += await DatabaseCheck(configuration: configuration, loops: loops).diagnoses()
        if let path = configuration.values.text("databasePasswordFile"),
            let open = Diagnosis.ofSecret(path, subject: "databasePasswordFile: \(path)")
        {
            diagnoses.append(open)
        }
        diagnoses += await TokenKeysCheck.diagnoses(configuration)
        diagnoses += await CertificateCheck.diagnoses(ofListener: configuration)
        if configuration.orderTypes.isEmpty { diagnoses.append(self.withoutOrderTypes(configuration)) }
        for type in configuration.orderTypes {
            let check = CertificateCheck(type: type)
            guard let settings = await check.load(into: &diagnoses) else { continue }
            if arguments.has("offline") { continue }
            diagnoses.append(await APNsCheck(settings: settings, loop: loops.loops[0]).diagnosis())
        }
        return diagnoses
    }

    /// - Parameter descriptors: of a process that is started as this one was.
    static func descriptors(_ descriptors: Descriptors) -> Diagnosis {
        if descriptors.isEnough { return .good("descriptors", descriptors.summary) }
        return .bad(
            "descriptors",
            descriptors.summary,
            fix: "allow \(descriptors.wanted): LimitNOFILE= of a systemd unit, 'ulimit -Hn' of a shell"
        )
    }

    private static func withoutOrderTypes(_ configuration: ServerConfiguration) -> Diagnosis {
        if configuration.database == nil {
            return .good("order types", "none is configured: 'walletorders run' serves \(TestIdentity.orderType)")
        }
        return .bad(
            "order types",
            "none is configured: nothing can be signed or pushed",
            fix: "add orderTypes.<identifier> to the configuration file, with the identity from Apple's portal"
        )
    }
}
