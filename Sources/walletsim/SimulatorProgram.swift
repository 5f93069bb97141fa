// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import Glibc
import HTTPEngine
import OrderModel
import OrderPackage
import ServiceRuntime
import Simulators

/// `walletsim apns` and `walletsim iphone`: the other sides of the service, usable against any server.
enum SimulatorProgram {
    private static let apns = CommandDescription(
        "walletsim apns",
        "Play APNs: HTTP/2 over TLS with client certificates, Apple's answers and reasons.",
        options: [
            CommandLineOption("listen", value: "HOST:PORT", "address, or [IPv6]:PORT (default: 127.0.0.1:8443)"),
            CommandLineOption(
                "pki",
                value: "DIR",
                "folder of 'walletorders testpki': its root is whom clients must show"
            ),
            CommandLineOption(
                "host",
                value: "NAME",
                repeatable: true,
                "a name that others reach it by, for its TLS certificate; may be repeated (localhost is always in it)"
            ),
        ]
    )
    private static let iphone = CommandDescription(
        "walletsim iphone",
        "Play an iPhone: fetch, verify, register, wait for pushes, pull again.",
        options: [
            CommandLineOption(
                "order-details",
                value: "FILE",
                "JSON with the four hand-off values; - for standard input"
            ),
            CommandLineOption(
                "trust",
                value: "ROOT.pem",
                repeatable: true,
                "root of package signatures, beside Apple's, and of the web service's TLS, in the place of the system's; may be "
                    + "repeated"
            ),
            CommandLineOption("apns", value: "URL", "APNs simulator to wait for pushes at (https://HOST:PORT)"),
            CommandLineOption(
                "changes",
                value: "N",
                "end after N newer packages; changes that come together are one (default: 0, fetch and register only)"
            ),
            CommandLineOption("remove", "unregister at the end"),
            CommandLineOption("output", value: "FILE", short: "o", "write the last package here"),
        ]
    )

    static func start() -> Never {
        ProcessDescriptors.raiseLimit()
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        // A phone has nothing to put in order before its end: it ends like any program.
        if arguments.first == "apns" { ProcessSignals.prepare() } else { ProcessSignals.ignoreBrokenPipes() }
        do {
            let loop = try EventLoop(name: "main")
            loop.spawn { exit(await self.run(arguments)) }
        } catch {
            self.complain("the system gives no event loop: \(error)")
            exit(69)
        }
        while true { pause() }
    }

    private static func run(_ arguments: [String]) async -> Int32 {
        do {
            switch arguments.first {
            case "apns": return try await self.playAPNs(try self.parse(self.apns, arguments))
            case "iphone": return try await self.playIPhone(try self.parse(self.iphone, arguments))
            case "--version":
                try self.print("walletsim \(Self.version)")
                return 0
            case "--help", "-h":
                try self.print("\(self.apns.help)\n\(self.iphone.help)")
                return 0
            default: throw UsageError("say which: walletsim apns, walletsim iphone (--help tells more)")
            }
        } catch is HelpShown {
            return 0
        } catch let error as UsageError {
            self.complain(error.message)
            return 64
        } catch let error as Failure {
            self.complain(error.message)
            return error.code
        } catch let error as IPhoneError {
            self.complain("\(error)")
            return 1
        } catch {
            self.complain("\(error)")
            return 69
        }
    }

    private static let version = "0.1.0"
    private struct HelpShown: Error {}

    /// An end with an exit code of its own (design 5.1).
    private struct Failure: Error {
        let code: Int32
        let message: String
    }

    /// Reads what a user named; what can't be read ends it with 66.
    private static func input<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do { return try await runBlocking(body) } catch {
            let text = "\(error)"
            throw Failure(code: 66, message: text.contains(name) ? text : "\(name): \(text)")
        }
    }

    /// Prints a line of result, at once. A result that nobody got is a failure.
    private static func print(_ text: String) throws {
        do { try Files.writeStandardOutput(Array((text + "\n").utf8)) } catch {
            if error.errno == EPIPE { ProcessSignals.endForBrokenPipe() }
            throw Failure(code: 69, message: "the result can't be written: \(error)")
        }
    }

    private static func parse(
        _ command: CommandDescription,
        _ arguments: [String]
    ) throws -> CommandDescription.Arguments {
        let parsed = try command.parse(Array(arguments.dropFirst()))
        if parsed.has("help") {
            try self.print(command.help)
            throw HelpShown()
        }
        if parsed.has("version") {
            try self.print("walletsim \(Self.version)")
            throw HelpShown()
        }
        return parsed
    }

    private static func playAPNs(_ arguments: CommandDescription.Arguments) async throws -> Int32 {
        guard let folder = arguments["pki"] else {
            throw UsageError("--pki names the folder of a test authority: walletorders testpki DIR makes one")
        }
        let text = arguments["listen"] ?? "127.0.0.1:8443"
        guard let listen = self.address(text) else { throw UsageError("--listen must be HOST:PORT or [IPv6]:PORT") }
        let logger = Logger(label: "walletsim")
        let authority = try await self.input(folder) { try TestAuthority.read(from: folder) }
        let hosts = arguments.all("host")
        let server = hosts.isEmpty ? authority.server : try authority.server(hosts: hosts)
        let loops = try EventLoopGroup(count: 1)
        let tls = try TLSContext.server(
            certificate: server.certificate,
            chain: server.chain,
            key: server.key,
            alpn: ["h2"],
            clientCertificates: .optional(roots: [authority.root])
        )
        let simulator = APNsSimulator(
            address: listen,
            tls: tls,
            loops: loops,
            logger: logger
        )
        let address = try simulator.server.bind()
        let group = ServiceGroup([simulator], logger: logger)
        ProcessSignals.watch(on: loops.loops[0]) { request in
            switch request {
            case .stop: group.stop()
            case .stopNow: _exit(1)
            case .reload: break  // There is nothing to read again.
            }
        }
        // What a serving process prints is not its work.
        do { try self.print("APNs is simulated at https://\(address)") } catch {}
        try await group.run()
        return 0
    }

    /// `127.0.0.1:8443`, `[::1]:8443`.
    private static func address(_ text: String) -> ListenAddress? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { return nil }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":") else { return nil }
        return .ip(host: isBracketed ? String(host.dropFirst().dropLast()) : String(host), port: port)
    }

    private static func playIPhone(_ arguments: CommandDescription.Arguments) async throws -> Int32 {
        guard let file = arguments["order-details"] else {
            throw UsageError(
                "--order-details names the hand-off: the answer of POST /api/v1/orders, or its orderDetails"
            )
        }
        let bytes = try await self.input(file == "-" ? "standard input" : file) {
            file == "-" ? try Files.read(descriptor: 0, name: "standard input", limit: 1 << 20) : try Files.read(file)
        }
        let details: OrderDetails
        do { details = try OrderDetails(try JSONValue(parsing: bytes)) } catch {
            throw IPhoneError("\(file): \(error)")
        }
        guard let changes = Int(arguments["changes"] ?? "0"), changes >= 0 else {
            throw UsageError("--changes is a whole number")
        }
        var roots: [Certificate] = []
        for path in arguments.all("trust") {
            roots += try await self.input(path) { try SigningIdentity.readCertificates(path) }
        }
        let loops = try EventLoopGroup(count: 1)
        let client = HTTPClient(
            loop: loops.loops[0],
            tls: try TLSContext.client(
                trust: roots.isEmpty ? .system : .certificates(roots),
                alpn: ["h2", "http/1.1"],
                identity: nil
            ),
            versions: [.http2, .http11]
        )
        if let output = arguments["output"], !Files.isDirectory(Self.folder(of: output)) {
            throw Failure(code: 69, message: "\(output) can't be written: its folder is not there")
        }
        let phone = IPhoneSimulator(client: client, roots: roots)
        var last = try await self.fetch(phone, details)
        try self.print(try await phone.register(details) ? "registered (201)" : "registered (200)")
        var count = 0
        // What changed between the fetch and the registration: the first list has no tag, so it names all.
        if changes > 0, details.order.text.isExactly(oneOf: try await phone.changedOrders(like: details)),
            let package = try await self.fetch(phone, details)
        {
            last = package
            count += 1
        }
        var seen = 0
        while count < changes {
            if let apns = arguments["apns"] {
                seen = try await self.waitForPush(client, apns, phone, after: seen)
                try self.print("told by a push")
            } else {
                try await sleep(for: .seconds(1))
            }
            guard details.order.text.isExactly(oneOf: try await phone.changedOrders(like: details)) else { continue }
            // Listed once more than it changed costs a 304 (store-design 3).
            guard let package = try await self.fetch(phone, details) else { continue }
            last = package
            count += 1
        }
        if arguments.has("remove") {
            try await phone.remove(details)
            try self.print("removed and unregistered")
        }
        if let output = arguments["output"], let package = last {
            do { try await runBlocking { try Files.write(package, to: output) } } catch {
                throw Failure(code: 69, message: "\(output) can't be written: \(error)")
            }
        }
        await client.close()
        return 0
    }

    private static func fetch(_ phone: IPhoneSimulator, _ details: OrderDetails) async throws -> [UInt8]? {
        switch try await phone.fetch(details) {
        case .notModified:
            try self.print("not modified (304)")
            return nil
        case .package(let order, let report):
            try self.print(
                "fetched \(order.package.count) bytes, verified (\(report.checked.joined(separator: ", "))), "
                    + "updatedAt \(order.document["updatedAt"]?.stringValue ?? "?"), "
                    + "status \(order.document["status"]?.stringValue ?? "?")"
            )
            return order.package
        }
    }

    /// Asks the simulator until it has taken a push for this phone.
    private static func waitForPush(
        _ client: HTTPClient,
        _ apns: String,
        _ phone: IPhoneSimulator,
        after count: Int
    ) async throws -> Int {
        var count = count
        var pause = 1
        var isKnown = count > 0
        while true {
            // The first question is answered at once, and shows that there is one who answers.
            let after = isKnown ? count : -1
            let response: HTTPClientResponse
            do {
                response = try await self.ask(client, "\(apns)/simulator/pushes/\(phone.pushToken)?after=\(after)")
            } catch {
                // A phone keeps waiting for APNs to come back; an address that never answered is a mistake.
                guard isKnown else { throw error }
                self.complain("APNs is away (\(error)); asking again in \(pause) s")
                try await sleep(for: .seconds(pause))
                pause = min(pause * 2, 30)
                continue
            }
            pause = 1
            let value = try? JSONValue(parsing: response.body)
            guard response.status == .ok, let present = value?["count"]?.int64Value else {
                throw IPhoneError(
                    "\(apns) is no APNs simulator: expected 200 with a count of pushes, got \(response.status.code)"
                )
            }
            if Int(present) > count { return Int(present) }
            if !isKnown { try self.print("waiting for a push") }
            isKnown = true
            // Started anew, it counts from the beginning.
            if Int(present) < count {
                if present > 0 { return Int(present) }
                count = 0
            }
        }
    }

    private static func ask(_ client: HTTPClient, _ url: String) async throws -> HTTPClientResponse {
        try await client.send(try HTTPClientRequest(.get, url), deadline: .seconds(30))
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func complain(_ text: String) { Files.writeStandardError("walletsim: \(text)\n") }
}
