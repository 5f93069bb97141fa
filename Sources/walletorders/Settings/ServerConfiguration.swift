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

    let dataDirectory: String
    let database: Sensitive<String>?
    let databaseConnections: Int
    let loops: Int
    let webServiceURL: String?
    let trustedProxies: TrustedProxies
    let deviceListen: ListenAddress
    let deviceCertificate: String?
    let deviceKey: String?
    let merchantListen: ListenAddress
    let adminListen: ListenAddress
    let apnsSimulatorListen: ListenAddress
    let drain: Duration
    let logLevel: LogLevel
    let orderTypes: [OrderType]
    /// The values with their sources, for `config show`.
    let values: Configuration

    /// Reads flags, environment and file.
    ///
    /// - Throws: `ConfigurationError` with all faults, or `CommandFailure` when the file can't be read.
    static func read(
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
        return try ServerConfiguration(
            Configuration(settings: Settings.all, flags: flags, environment: environment, file: file.entries),
            orderTypes: file.orderTypes,
            environment: environment
        )
    }

    /// - Parameter orderTypes: names of order types that may have no settings at all, which is a fault.
    init(
        _ given: Configuration,
        orderTypes: [String] = [],
        environment: [String: String]
    ) throws(ConfigurationError) {
        var values = given
        self.dataDirectory = Self.absolute(values.text("dataDir") ?? Self.defaultDataDirectory(environment))
        self.database = Self.database("database", &values)
        if self.database == nil, self.dataDirectory.contains(",") {
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
        self.deviceCertificate = values.text("device.certificate")
        self.deviceKey = values.text("device.key")
        if (self.deviceCertificate == nil) != (self.deviceKey == nil) {
            values.fault("device.certificate", "device.certificate and device.key go together: give both or none")
        }
        self.drain = values.duration("drain")
        self.logLevel = LogLevel(name: values.choice("logLevel", LogLevel.allCases.map(\.name))) ?? .info
        var types: [OrderType] = []
        for name in Set(values.names(under: "orderTypes.", settings: Settings.all)).union(orderTypes).sorted() {
            if let type = Self.orderType(name, &values, environment) { types.append(type) }
        }
        self.orderTypes = types
        try values.check()
        self.values = values
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
            apnsHost: scoped.text(prefix + "apns.host") ?? "",
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

    /// A database URL that can be read; notes a fault otherwise.
    private static func database(_ key: String, _ values: inout Configuration) -> Sensitive<String>? {
        guard let text = values.text(key), !text.isEmpty else { return nil }
        do throws(PostgresError) { _ = try PostgresConfiguration(url: text) } catch {
            // Its words never repeat the text, which may hold a password.
            values.fault(key, error.message)
        }
        return Sensitive(text)
    }

    /// An address such as `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/x.sock`; notes a fault otherwise.
    private static func address(_ key: String, _ values: inout Configuration) -> ListenAddress {
        let text = values.text(key) ?? ""
        if text.hasPrefix("unix:"), text.utf8.count > 5 { return .unix(path: String(text.dropFirst(5))) }
        if let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon != text.startIndex
        {
            let host = text[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            if isBracketed || !host.contains(":") {
                return .ip(host: isBracketed ? String(host.dropFirst().dropLast()) : String(host), port: port)
            }
        }
        values.fault(key, "must be HOST:PORT, [IPv6]:PORT or unix:PATH, not \"\(text)\"")
        return .ip(host: "127.0.0.1", port: 0)
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

    private static func defaultDataDirectory(_ environment: [String: String]) -> String {
        if geteuid() == 0 { return "/var/lib/walletorders" }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/walletorders" }
        return (environment["HOME"] ?? "/tmp") + "/.local/state/walletorders"
    }
}
