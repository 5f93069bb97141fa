// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime

/// Where the database is and how sessions with it behave.
package struct PostgresConfiguration: Sendable {
    /// One place that the server may be at.
    package struct Host: Sendable, Hashable {
        /// A name, an address, or the absolute path of a socket directory.
        package var name: String
        /// The TCP port, also part of a socket's file name.
        package var port: Int
        /// Where it is, when its name is not to be looked up; certificates are checked against the name all the same.
        package var address: String?

        package init(name: String, port: Int = 5432, address: String? = nil) {
            self.name = name
            self.port = port
            self.address = address
        }

        /// Whether it is a Unix socket (a directory, or an abstract name with `@`).
        package var isSocket: Bool { self.name.hasPrefix("/") || self.name.hasPrefix("@") }
    }

    /// Tried in this order; the first that takes writes is used.
    package var hosts: [Host]
    /// The database.
    package var database: String
    /// The role; empty means the operating-system user's name.
    package var user: String
    /// The password, if the server asks for one.
    package var password: Sensitive<String>?
    /// Further libpq keywords as they were given (`sslmode`, `sslrootcert`, `passfile`, …).
    package var keywords: [String: String] = [:]
    /// Command-line options for the session that were given with the URL; ours stand before them.
    package var extraOptions = ""

    /// Shown in `pg_stat_activity`.
    package var applicationName = "walletorders"
    /// More connections a loop make it slower, not faster: each is a server process of its own.
    package var connectionsPerLoop = 4
    /// The `search_path`. One schema, fixed, so that no object of a stranger can come first.
    package var schema = "public"

    /// For one host to take a connection and let us in.
    package var connectTimeout: Duration = .seconds(5)
    /// How long a caller waits for a free connection.
    package var acquireTimeout: Duration = .seconds(5)
    /// How many callers may wait on one loop; more are turned away at once.
    package var waiterLimit = 4_096
    /// `statement_timeout`. The client gives up half a second later, should the server not answer at all.
    package var statementTimeout: Duration = .seconds(5)
    /// `lock_timeout`.
    package var lockTimeout: Duration = .seconds(2)
    /// `idle_in_transaction_session_timeout`.
    package var idleInTransaction: Duration = .seconds(10)
    /// How long an answer that nobody waits for any more is awaited before the server is asked to cancel. Most are nearly
    /// here; and a cancellation costs a connection of its own and mostly the session too, a process each, which a client that
    /// comes and goes would have for nothing.
    package var cancelDelay: Duration = .milliseconds(50)
    /// How long after a cancellation the statement may take to end before the connection is given up.
    package var cancelGrace: Duration = .milliseconds(500)

    /// A server on a Unix socket.
    package init(socketDirectory: String, database: String, user: String, port: Int = 5432) {
        self.hosts = [Host(name: socketDirectory, port: port)]
        self.database = database
        self.user = user
    }

    /// A server, or several, given as libpq's URL (`postgresql://user@a,b/name?sslmode=verify-full`) or keywords
    /// (`host=a,b dbname=name`).
    ///
    /// - Throws: `PostgresError(.configuration)`; the message never repeats the text, which may hold a password.
    package init(url: String) throws(PostgresError) {
        let values = try ConnectionString.parse(url)
        // Part of libpq, but read only while it connects, and it would decide on the hosts.
        if values["service"] != nil {
            throw PostgresError(
                .configuration,
                "service is not supported: write the host, the database and the rest of the service's settings here"
            )
        }
        let names = values["host"].map { ConnectionString.list($0) } ?? []
        let addresses = values["hostaddr"].map { ConnectionString.list($0) } ?? []
        let ports = values["port"].map { ConnectionString.list($0) } ?? []
        guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
            throw PostgresError(.configuration, "\(addresses.count) hostaddr were given for \(names.count) hosts")
        }
        var hosts: [Host] = []
        let count = max(names.count, addresses.count, 1)
        guard ports.count <= 1 || ports.count == count else {
            throw PostgresError(.configuration, "\(ports.count) ports were given for \(count) hosts")
        }
        for index in 0..<count {
            var name = index < names.count ? names[index] : ""
            let address = index < addresses.count && !addresses[index].isEmpty ? addresses[index] : nil
            if let address, !Endpoint.isNumeric(address) {
                throw PostgresError(.configuration, "hostaddr is a numeric address; names stand in host")
            }
            if name.isEmpty, let address { name = address }
            if name.isEmpty { name = "/var/run/postgresql" }
            guard ConnectionString.isHost(name) else {
                throw PostgresError(.configuration, "a host holds what no host's name or address has")
            }
            let port = ports.isEmpty ? "" : ports[ports.count == 1 ? 0 : index]
            guard let number = port.isEmpty ? 5432 : Int(port), (1...65_535).contains(number) else {
                throw PostgresError(.configuration, "a port is a number from 1 to 65535")
            }
            hosts.append(Host(name: name, port: number, address: address == name ? nil : address))
        }
        self.hosts = hosts
        self.user = values["user"] ?? ""
        self.database = values["dbname"] ?? self.user
        self.password = values["password"].map { Sensitive($0) }
        self.extraOptions = values["options"] ?? ""
        if let name = values["application_name"], !name.isEmpty { self.applicationName = name }
        if let seconds = values["connect_timeout"], !seconds.isEmpty {
            guard let number = Int(seconds) else {
                throw PostgresError(.configuration, "connect_timeout is a number of seconds")
            }
            if number > 0 { self.connectTimeout = .seconds(min(number, 60)) }
        }
        let own: Set<String> = [
            "host", "hostaddr", "port", "user", "dbname", "password", "options", "application_name", "connect_timeout",
        ]
        self.keywords = values.filter { !own.contains($0.key) }
    }

    /// The `options` of the start-up packet: the whole session is set without a further round trip.
    internal var sessionOptions: String {
        let settings = [
            ("timezone", "UTC"), ("datestyle", "ISO"), ("intervalstyle", "postgres"),
            ("search_path", self.schema),
            // A plan made for one device's five orders must not meet the one with five thousand.
            ("plan_cache_mode", "force_generic_plan"), ("max_parallel_workers_per_gather", "0"), ("jit", "off"),
            ("default_transaction_isolation", "read committed"),
            ("statement_timeout", PostgresConfiguration.milliseconds(self.statementTimeout)),
            ("lock_timeout", PostgresConfiguration.milliseconds(self.lockTimeout)),
            ("idle_in_transaction_session_timeout", PostgresConfiguration.milliseconds(self.idleInTransaction)),
            ("synchronous_commit", "on"), ("client_min_messages", "warning"),
        ]
        var text = settings.map { "-c \($0.0)=\(PostgresConfiguration.escaped($0.1))" }.joined(separator: " ")
        if !self.extraOptions.isEmpty { text += " " + self.extraOptions }
        return text
    }

    /// What libpq is given for one address of one host, in the order that it reads them: later ones win.
    ///
    /// `target_session_attrs` sees to it that a standby is left again, the keepalives to it that a dead peer is noticed.
    internal func parameters(for endpoint: Endpoint) -> [(String, String)] {
        var parameters: [(String, String)] = [
            ("target_session_attrs", "read-write"), ("keepalives", "1"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
            // Kerberos would be looked for on every connection; nobody here uses it.
            ("gssencmode", "disable"),
        ]
        parameters += self.keywords.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        parameters += [
            ("host", endpoint.host), ("port", String(endpoint.port)), ("dbname", self.database),
            ("application_name", self.applicationName), ("client_encoding", "UTF8"), ("options", self.sessionOptions),
        ]
        if let address = endpoint.address { parameters.append(("hostaddr", address)) }
        if !self.user.isEmpty { parameters.append(("user", self.user)) }
        if let password = self.password { parameters.append(("password", password.value)) }
        return parameters
    }

    /// How long one statement may take before the client gives up by itself.
    internal var answerTimeout: Duration { self.statementTimeout + .milliseconds(500) }

    private static func milliseconds(_ duration: Duration) -> String {
        String(max(0, min(duration.nanoseconds / 1_000_000, 2_147_483_647)))
    }

    /// Spaces and backslashes separate options unless escaped.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if character == " " || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }
}
