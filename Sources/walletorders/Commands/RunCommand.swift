// SPDX-License-Identifier: Apache-2.0
import OrderModel
import OrderStore
import ServiceRuntime

/// `run`: everything in one process, with nothing to set up before.
enum RunCommand: Command {
    static let description = CommandDescription(
        "walletorders run",
        "Run everything in one process: database, test certificates, APNs simulator, service.",
        options: [
            CommandLineOption("demo", "play the whole story once on free ports, print what was checked, and end"),
            CommandLineOption("stay", "with --demo: go on serving afterwards"),
        ] + Settings.options
    )

    static var serves: Bool { true }

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        if arguments.has("demo") {
            try await Demo.run(arguments, stays: arguments.has("stay"))
            return
        }
        if arguments.has("stay") { throw UsageError("--stay goes with --demo; 'walletorders run' stays anyway") }
        let started = MonotonicTime.now()
        let application = try await Application.make(Application.Plan(roles: [.web, .push], isSelfContained: true)) {
            try await ServerConfiguration.read(arguments)
        }
        let key = try await application.prepare {
            try await RunKey.load(application.configuration.dataDirectory + "/keys", application.store)
        }
        let elapsed = MonotonicTime.now() - started
        Terminal.print(Welcome.text(application, key: key, elapsed: elapsed))
        try await application.run()
    }
}

/// `serve`: the web side, any number of them.
enum ServeCommand: Command {
    static let description = CommandDescription(
        "walletorders serve",
        "Run the web side: device, merchant and admin listeners.",
        options: Settings.options
    )

    static var serves: Bool { true }

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        try await ServerProcess.run(arguments, .web)
    }
}

/// `worker`: the push side, any number of them.
enum WorkerCommand: Command {
    static let description = CommandDescription(
        "walletorders worker",
        "Run the push side: carries due tickets to APNs.",
        options: Settings.options
    )

    static var serves: Bool { true }

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        try await ServerProcess.run(arguments, .push)
    }
}

/// What `serve` and `worker` share.
enum ServerProcess {
    static func run(_ arguments: CommandDescription.Arguments, _ role: Application.Role) async throws {
        let application = try await Application.make(Application.Plan(roles: [role])) {
            try await ServerConfiguration.read(arguments)
        }
        application.logger.notice("ready", Welcome.addresses(application))
        try await application.run()
    }
}
