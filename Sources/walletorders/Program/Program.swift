// SPDX-License-Identifier: Apache-2.0
import Glibc
import PostgreSQL
import ServiceRuntime

/// Why a command ends without having done its work, and the exit code that says so (design 5.1).
struct CommandFailure: Error, Sendable, CustomStringConvertible {
    /// The exit codes, after sysexits.h.
    enum Code: Int32, Sendable {
        case checkFailed = 1
        case usage = 64
        case inputUnreadable = 66
        case unavailable = 69
        case configuration = 78
    }
    let code: Code
    let message: String
    var description: String { self.message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// One command of the program.
protocol Command: Sendable {
    /// How it is called.
    static var description: CommandDescription { get }
    /// Whether it goes on until a signal ends it, in order.
    static var serves: Bool { get }
    /// Does it.
    ///
    /// - Throws: `CommandFailure`, `UsageError` or `ConfigurationError`; each has its exit code.
    static func run(_ arguments: CommandDescription.Arguments) async throws
}

extension Command {
    static var serves: Bool { false }
}

/// The program: finds the command, runs it on an event loop, and ends with its exit code.
enum Program {
    static let version = "0.1.0"

    /// All commands, by the words they are called with.
    static let commands: [(words: [String], command: any Command.Type)] = [
        (["run"], RunCommand.self),
        (["identity", "request"], IdentityRequestCommand.self),
        (["serve"], ServeCommand.self),
        (["worker"], WorkerCommand.self),
        (["migrate"], MigrateCommand.self),
        (["doctor"], DoctorCommand.self),
        (["keys", "create"], KeysCreateCommand.self),
        (["keys", "list"], KeysListCommand.self),
        (["keys", "revoke"], KeysRevokeCommand.self),
        (["config", "show"], ConfigShowCommand.self),
        (["config", "validate"], ConfigValidateCommand.self),
        (["orders", "list"], OrdersListCommand.self),
        (["orders", "get"], OrdersGetCommand.self),
        (["orders", "history"], OrdersHistoryCommand.self),
        (["orders", "erase"], OrdersEraseCommand.self),
        (["orders", "push"], OrdersPushCommand.self),
        (["tickets", "list"], TicketsListCommand.self),
        (["tickets", "redrive"], TicketsRedriveCommand.self),
        (["package", "build"], PackageBuildCommand.self),
        (["package", "verify"], PackageVerifyCommand.self),
        (["package", "inspect"], PackageInspectCommand.self),
        (["order", "validate"], OrderValidateCommand.self),
        (["order", "schema"], OrderSchemaCommand.self),
        (["testpki"], TestPKICommand.self),
        (["openapi"], OpenAPICommand.self),
        (["completion"], CompletionCommand.self),
    ]

    /// Runs the process's own arguments; never returns.
    static func start() -> Never {
        ProcessEnvironment.holdStandardDescriptors()
        // Before the first thread: others read the environment, and threads inherit the signal mask.
        InheritedSettings.forget()
        if self.serves { ProcessSignals.prepare() } else { ProcessSignals.ignoreBrokenPipes() }
        ProcessDescriptors.raiseLimit()
        // What is in memory here must not end up in a core file.
        ProcessMemory.keepPrivate()
        let arguments = Self.arguments
        do {
            let loop = try EventLoop(name: "main")
            loop.spawn {
                let code = await self.run(arguments)
                exit(code)
            }
        } catch {
            Terminal.complain("the system gives no event loop: \(error)")
            exit(CommandFailure.Code.unavailable.rawValue)
        }
        // All work is done by the loops; signals are read there, too.
        while true { pause() }
    }

    private static let arguments = Array(Swift.CommandLine.arguments.dropFirst())

    /// Whether this process is one that goes on until a signal ends it.
    static let serves = commands.first { arguments.starts(with: $0.words) }?.command.serves ?? false

    /// Runs one call and tells its exit code.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            if let word = arguments.first, ["--version", "-V"].contains(word) {
                self.printVersion()
                return 0
            }
            if arguments.isEmpty || ["--help", "-h", "help"].contains(arguments[0]) {
                Terminal.print(self.help)
                return arguments.isEmpty ? CommandFailure.Code.usage.rawValue : 0
            }
            if arguments.count == 2, ["--help", "-h"].contains(arguments[1]), let help = self.help(of: arguments[0]) {
                Terminal.print(help)
                return 0
            }
            guard let (words, command) = self.commands.first(where: { arguments.starts(with: $0.words) }) else {
                throw UsageError(self.unknown(arguments))
            }
            let parsed = try command.description.parse(Array(arguments.dropFirst(words.count)))
            if parsed.has("help") {
                Terminal.print(command.description.help)
                return 0
            }
            if parsed.has("version") {
                self.printVersion()
                return 0
            }
            try await command.run(parsed)
            return 0
        } catch is Interrupted {
            // As asked: nothing is left running, and the next start finds all in order.
            return 0
        } catch let error as UsageError {
            Terminal.complain(error.message)
            return CommandFailure.Code.usage.rawValue
        } catch let error as ConfigurationError {
            for fault in error.faults { Terminal.complain(fault) }
            return CommandFailure.Code.configuration.rawValue
        } catch let error as CommandFailure {
            if !error.message.isEmpty { Terminal.complain(error.message) }
            return error.code.rawValue
        } catch let error as PostgresError {
            let (code, advice) = self.meaning(of: error)
            Terminal.complain("\(error)" + (advice.map { ". \($0)" } ?? ""))
            return code.rawValue
        } catch {
            Terminal.complain("\(error)")
            return CommandFailure.Code.unavailable.rawValue
        }
    }

    private static func printVersion() { Terminal.print("walletorders \(self.version)") }

    /// The exit code of a database's error, and what to do beyond what it says itself.
    private static func meaning(of error: PostgresError) -> (CommandFailure.Code, String?) {
        switch error.code {
        case .connection, .refused, .noDatabase, .readOnly, .shuttingDown:
            (
                .unavailable,
                "The settings database and databasePassword say where it is and who asks; 'walletorders doctor' looks closer"
            )
        case .configuration, .newerSchema, .migrationChanged: (.configuration, nil)
        // 42P01: there is no such table.
        case _ where error.sqlState == "42P01":
            (.configuration, "The database has no schema of this program: run 'walletorders migrate'")
        default: (.unavailable, nil)
        }
    }

    private static func unknown(_ arguments: [String]) -> String {
        let group = self.group(arguments[0])
        if !group.isEmpty {
            let calls = group.map { "walletorders " + $0.words.joined(separator: " ") }.joined(separator: ", ")
            if arguments.count < 2 || arguments[1].hasPrefix("-") { return "say which: \(calls)" }
            return "unknown command \(arguments[0]) \(arguments[1]); there are \(calls)"
        }
        let hint = Suggestion.nearest(to: arguments[0], among: Set(self.commands.compactMap(\.words.first)))
        return "unknown command \(arguments[0])"
            + (hint.map { "; did you mean \($0)?" } ?? "; walletorders --help lists them")
    }

    /// The commands whose first word of several this is.
    private static func group(_ word: String) -> [(words: [String], command: any Command.Type)] {
        self.commands.filter { $0.words.count > 1 && $0.words[0] == word }
    }

    /// A line for each command: its words and what it does.
    private static func rows(_ commands: [(words: [String], command: any Command.Type)]) -> String {
        let width = commands.map { $0.words.joined(separator: " ").count }.max() ?? 0
        return commands.map { words, command in
            let name = words.joined(separator: " ")
            return "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(command.description.summary)"
        }.joined(separator: "\n")
    }

    /// The help of the commands that begin with a word; nil when it is no such word.
    private static func help(of word: String) -> String? {
        let group = self.group(word)
        if group.isEmpty { return nil }
        return """
            Usage: walletorders \(word) COMMAND [options]

            Commands:
            \(self.rows(group))

            walletorders \(word) COMMAND --help tells of its options.
            """
    }

    private static var help: String {
        """
        Signs Apple Wallet order packages and keeps them up to date on customers' devices.

        Usage: walletorders COMMAND [options]

        Commands:
        \(self.rows(self.commands))

        walletorders COMMAND --help tells of its options. Exit codes: 0 ok, 1 the check failed, 64 usage,
        66 input unreadable, 69 unavailable, 78 configuration.
        """
    }
}
