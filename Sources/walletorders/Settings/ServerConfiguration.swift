// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import ExactJSON
import Glibc
import HTTPEngine
import OrderModel
import PostgreSQL
import ServiceRuntime

/// The settings of one process, read and checked.
struct ServerConfiguration: Sendable {
    /// The settings of one order type, as the file has them: nothing is loaded yet.
    struct OrderType: Sendable {
        let identifier: OrderTypeIdentifier
        let identity: String
        let key: String?
        let passphraseFile: String?
        let intermediates: String?
        let webServiceURL: String
        let completeWhenFulfilled: Bool
        let keepsUnknownFields: Bool
        let apnsHost: String
        let apnsPort: Int
        let apnsTrust: String?
        let apnsPushType: String
        let apnsPriority: Int
        let apnsExpiration: Duration
    }

    /// How often devices and merchants may ask: requests a minute, 0 for no limit.
    struct Limits: Sendable {
        /// About one device, order or share link, from one address.
        let perDevice: Int
        /// From one address to the routes of the public listener.
        let perAddress: Int
        /// With one merchant key, each event of a bulk request counted.
        let perKey: Int
        /// Without a valid merchant key, from one address.
        let failuresPerAddress: Int
    }

    let dataDirectory: String
    /// With the password, wherever it was given; nil for the private cluster.
    let database: PostgresConfiguration?
    let databaseConnections: Int
    let loops: Int
    let webServiceURL: String?
    let trustedProxies: TrustedProxies
    let deviceListen: ListenAddress
    let deviceCertificate: String?
    let deviceKey: String?
    /// Each process counts for itself.
    let limits: Limits
    let merchantListen: ListenAddress
    let adminListen: ListenAddress
    let apnsSimulatorListen: ListenAddress
    let drain: Duration
    let logLevel: LogLevel
    let orderTypes: [OrderType]
    /// The values with their sources, for `config show`.
    let values: Configuration
    /// What is wrong with them, all of it; none in a configuration that ``read(_:environment:)`` gave.
    let faults: [String]

    /// Reads flags, environment and file.
    ///
    /// - Throws: `ConfigurationError` with all faults, or `CommandFailure` when the file can't be read.
    static func read(
        _ arguments: CommandDescription.Arguments,
        environment: [String: String] = ProcessEnvironment.all
    ) async throws -> ServerConfiguration {
        let configuration = try await self.examine(arguments, environment: environment)
        if !configuration.faults.isEmpty { throw ConfigurationError(configuration.faults) }
        return configuration
    }

    /// The same, with what is wrong instead of an error: for commands that look further.
    ///
    /// - Throws: `ConfigurationError` when the file is no JSON object, `CommandFailure` when it can't be read.
    static func examine(
        _ arguments: CommandDescription.Arguments,
        environment: [String: String] = ProcessEnvironment.all
    ) async throws -> ServerConfiguration {
        var flags: [String: String] = [:]
        for (name, values) in arguments.values { flags[name] = values.last }
        var file = ConfigurationFile.Contents()
        // Set to nothing is how scripts and compose files unset one.
        var environment = environment.filter { !$0.value.isEmpty }
        if let path = flags["config"] ?? environment["WALLETORDERS_CONFIG"] {
            file = try await ConfigurationFile.read(path)
        }
        environment["WALLETORDERS_CONFIG"] = nil
        let values = Configuration(settings: Settings.all, flags: flags, environment: environment, file: file.entries)
        return ServerConfiguration(
            values,
            file,
            environment: environment,
            password: await DatabasePassword.read(values)
        )
    }

    init(
        _ given: Configuration,
        _ file: ConfigurationFile.Contents,
        environment: [String: String],
        password: DatabasePassword = .none
    ) {
        var values = given
        if let path = values.text("dataDir") ?? Self.defaultDataDirectory(environment) {
            self.dataDirectory = Self.absolute(path)
        } else {
            // Not a folder of /tmp: anybody could have made it, and its keys would be gone with the next start of the machine.
            values.fault("dataDir", "has no default where HOME is not set: name a folder (--data-dir)")
            self.dataDirectory = ""
        }
        self.database = Self.database("database", password, &values)
        if values.text("database") == nil, self.dataDirectory.contains(",") {
            // libpq takes the path of the private cluster's socket for a list of hosts.
            values.fault("dataDir", "holds a comma, which the path of a database's socket can't: choose another folder")
        }
        self.databaseConnections = values.integer("databaseConnections", 1...64)
        let loops = values.integer("loops", 0...256)
        self.loops = loops == 0 ? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) : loops
        self.webServiceURL = Self.url("webServiceURL", &values)
        self.trustedProxies = Self.proxies("trustedProxies", &values)
        self.deviceListen = Self.address("device.listen", &values)
        self.merchantListen = Self.address("merchant.listen", &values)
        self.adminListen = Self.address("admin.listen", &values)
        self.apnsSimulatorListen = Self.address("apnsSimulator.listen", &values)
        if case .unix = self.apnsSimulatorListen {
            values.fault("apnsSimulator.listen", "must be HOST:PORT: pushes go over TCP")
        }
        self.deviceCertificate = values.text("device.certificate")
        self.deviceKey = values.text("device.key")
        if (self.deviceCertificate == nil) != (self.deviceKey == nil) {
            values.fault("device.certificate", "device.certificate and device.key go together: give both or none")
        }
        self.limits = Limits(
            perDevice: values.integer("device.requestsPerDevice", 0...TokenRate.most),
            perAddress: values.integer("device.requestsPerAddress", 0...TokenRate.most),
            perKey: values.integer("merchant.requestsPerKey", 0...TokenRate.most),
            failuresPerAddress: values.integer("merchant.failuresPerAddress", 0...TokenRate.most)
        )
        self.drain = values.duration("drain")
        self.logLevel = LogLevel(name: values.choice("logLevel", LogLevel.allCases.map(\.name))) ?? .info
        var types: [OrderType] = []
        // Names of order types hold dots. Where the file has them as members, those are the names; only keys of one piece
        // (`"orderTypes.order.com.example.shop.identity": …`) are taken apart.
        let members = file.orderTypes
        let others = values.names(under: "orderTypes.", settings: Settings.all).filter { name in
            !members.contains { name.hasPrefix($0 + ".") }
        }
        for name in Set(others).union(members).sorted() {
            if let type = Self.orderType(name, &values, environment) { types.append(type) }
        }
        self.orderTypes = types
        self.values = values
        var faults = file.faults
        do throws(ConfigurationError) { try values.check() } catch { faults += error.faults }
        self.faults = faults
    }

    private static func orderType(
        _ name: String,
        _ values: inout Configuration,
        _ environment: [String: String]
    ) -> OrderType? {
        let prefix = "orderTypes.\(name)."
        let identifier: OrderTypeIdentifier
        do { identifier = try OrderTypeIdentifier(name) } catch {
            values.fault("orderTypes.\(name)", "\(error)")
            return nil
        }
        var scoped = values.scoped(to: name, of: "orderTypes.*.", settings: Settings.all)
        defer { values = scoped }
        let url = self.url(prefix + "webServiceURL", &scoped) ?? scoped.text("webServiceURL")
        guard let identity = scoped.text(prefix + "identity") else {
            scoped.fault(prefix + "identity", "is missing: name the file with the Order Type ID certificate")
            return nil
        }
        if url == nil {
            scoped.fault(
                prefix + "webServiceURL",
                "is missing: say where devices reach the device listener (https://…)"
            )
        }
        let pushType = scoped.choice(prefix + "apns.pushType", ["background", "alert"])
        let priority = scoped.choice(prefix + "apns.priority", ["1", "5", "10"])
        // As written: what is no such word at all has its fault already.
        if scoped.text(prefix + "apns.pushType") == "background",
            ["1", "10"].contains(scoped.text(prefix + "apns.priority"))
        {
            scoped.fault(prefix + "apns.priority", "must be 5 with the push type background: APNs refuses all else")
        }
        return OrderType(
            identifier: identifier,
            identity: identity,
            key: scoped.text(prefix + "key"),
            passphraseFile: scoped.text(prefix + "passphraseFile"),
            intermediates: scoped.text(prefix + "intermediates"),
            webServiceURL: url ?? "",
            completeWhenFulfilled: scoped.boolean(prefix + "completeWhenFulfilled"),
            keepsUnknownFields: scoped.choice(prefix + "unknownFields", ["refuse", "keep"]) == "keep",
            apnsHost: self.host(prefix + "apns.host", &scoped),
            apnsPort: scoped.integer(prefix + "apns.port", 1...65_535),
            apnsTrust: scoped.text(prefix + "apns.trust"),
            apnsPushType: pushType,
            apnsPriority: Int(priority) ?? 5,
            apnsExpiration: scoped.duration(prefix + "apns.expiration")
        )
    }

    private static func proxies(_ key: String, _ values: inout Configuration) -> TrustedProxies {
        do throws(ProxyListError) { return try TrustedProxies(parsing: values.text(key) ?? "") } catch {
            values.fault(key, error.description)
            return TrustedProxies()
        }
    }

    /// A database URL that can be read, with the password that was given beside it; notes a fault otherwise.
    private static func database(
        _ key: String,
        _ password: DatabasePassword,
        _ values: inout Configuration
    ) -> PostgresConfiguration? {
        password.noteFaults(&values)
        guard let text = values.text(key), !text.isEmpty else { return nil }
        do throws(PostgresError) {
            var settings = try PostgresConfiguration(url: text)
            password.put(into: &settings, &values)
            return settings
        } catch {
            // Its words never repeat the text, which may hold a password.
            values.fault(key, error.message)
            return nil
        }
    }

    /// An address such as `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/x.sock`; notes a fault otherwise.
    private static func address(_ key: String, _ values: inout Configuration) -> ListenAddress {
        let text = values.text(key) ?? ""
        if text.hasPrefix("unix:"), text.utf8.count > 5 {
            return self.checked(.unix(path: String(text.dropFirst(5))), key, &values)
        }
        if let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon != text.startIndex
        {
            let host = text[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            if isBracketed || !host.contains(":") {
                let name = isBracketed ? String(host.dropFirst().dropLast()) : String(host)
                return self.checked(.ip(host: name, port: port), key, &values)
            }
        }
        values.fault(key, "must be HOST:PORT, [IPv6]:PORT or unix:PATH, not \"\(text)\"")
        return .ip(host: "127.0.0.1", port: 0)
    }

    private static func checked(
        _ address: ListenAddress,
        _ key: String,
        _ values: inout Configuration
    ) -> ListenAddress {
        if let fault = address.fault { values.fault(key, fault) }
        return address
    }

    /// A host to connect to: a name or an address, nothing around it.
    private static func host(_ key: String, _ values: inout Configuration) -> String {
        let text = values.text(key) ?? ""
        if ListenAddress.ip(host: text, port: 0).fault == nil { return text }
        let isName =
            text.utf8.count <= 253
            && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
                // Names of containers may have underscores.
                (1...63).contains(label.count)
                    && label.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                        default: false
                        }
                    }
            }
        if !isName, !text.isEmpty {
            values.fault(key, "must be a host name or address such as api.push.apple.com, not \"\(text)\"")
        }
        return text
    }

    private static func url(_ key: String, _ values: inout Configuration) -> String? {
        guard let text = values.text(key) else { return nil }
        // The rule for the documents that will hold it.
        let check = URLCheck(text)
        if let fault = check.fault { values.fault(key, "\(fault); write it like https://wallet.example.com/") }
        for (_, message, fix) in check.webServiceFaults { values.fault(key, "\(message). \(fix)") }
        if check.fault == nil, let fault = DeviceAPI.pathFault(of: text) {
            values.fault(key, "No device can ask for its path. \(fault)")
        }
        return text
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : ProcessEnvironment.currentDirectory + "/" + path
    }

    /// The data directory when none is named; nil when nothing says where it could be.
    static func defaultDataDirectory(_ environment: [String: String], isRoot: Bool = geteuid() == 0) -> String? {
        if isRoot { return "/var/lib/walletorders" }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/walletorders" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state/walletorders"
    }
}
