// SPDX-License-Identifier: Apache-2.0
import Cryptography
import DeviceAPI
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderPackage
import OrderStore
import PushNotifications
import ServiceRuntime

/// Puts changed settings, certificates and keys in force while everything goes on (SIGHUP).
///
/// All is read and checked first. A fault anywhere leaves everything as it was: half of a rotation is worse than none. Requests
/// and pushes under way end with what they began with; the next ones see the new.
actor ConfigurationReload {
    /// Settings that hold from the start of a process to its end.
    private static let fixed = [
        "dataDir", "database", "databasePassword", "databasePasswordFile", "databaseConnections", "loops",
        "trustedProxies", "device.listen", "merchant.listen", "admin.listen", "apnsSimulator.listen", "drain",
    ]

    private let start: ServerConfiguration
    private let parts: Parts
    private let logger: Logger
    private let reread: @Sendable () async throws -> ServerConfiguration
    private var isAtWork = false
    private var isAskedAgain = false

    init(
        start: ServerConfiguration,
        parts: Parts,
        logger: Logger,
        reread: @escaping @Sendable () async throws -> ServerConfiguration
    ) {
        self.start = start
        self.parts = parts
        self.logger = logger
        self.reread = reread
    }

    /// Reads everything again. Asked for while it is at work, it does so once more afterwards.
    func request() async {
        if self.isAtWork {
            self.isAskedAgain = true
            return
        }
        self.isAtWork = true
        repeat {
            self.isAskedAgain = false
            do {
                try await self.reload()
                self.parts.reloadFault.withLock { $0 = nil }
            } catch {
                let faults = (error as? ConfigurationError)?.faults ?? ["\(error)"]
                for fault in faults {
                    self.logger.error("the new configuration is not used, the old one stays", ["fault": .string(fault)])
                }
                let count = "\(faults.count) \(faults.count == 1 ? "fault" : "faults")"
                self.parts.reloadFault.withLock { $0 = "the last reload failed (\(count), see the log)" }
            }
        } while self.isAskedAgain
        self.isAtWork = false
    }

    private func reload() async throws {
        let configuration = try await self.reread()
        var faults: [String] = []
        var types: [OrderTypeSettings] = []
        do { types = try await OrderTypeLoading.load(configuration.orderTypes) } catch let error as ConfigurationError {
            faults += error.faults
        }
        var tls: TLSContext?
        if let server = self.parts.deviceServer, configuration.deviceCertificate != nil, server.isSecure {
            do { tls = try await DeviceTLS.load(configuration, nil) } catch let error as ConfigurationError {
                faults += error.faults
            }
        }
        faults += self.faults(of: types)
        if !faults.isEmpty { throw ConfigurationError(faults) }

        let lasting = self.lasting(configuration)
        if configuration.orderTypes.isEmpty, self.parts.apnsSimulator != nil { types = self.parts.types.all }
        types = self.served(types)
        let before = self.parts.types.all
        // Only for new types: certificates can be changed while the database is away.
        for type in types where !before.contains(where: { $0.identifier == type.identifier }) {
            try await self.parts.store.ensureOrderType(type.identifier)
        }
        self.parts.types.replace(types)
        self.parts.worker?.settingsChanged()
        if let tls { self.parts.deviceServer?.replaceTLS(tls) }
        let limits = configuration.limits
        self.parts.deviceLimits?.set(requestsPerDevice: limits.perDevice, requestsPerAddress: limits.perAddress)
        self.parts.merchantLimits?.set(
            requestsPerKey: limits.perKey,
            failuresPerAddress: limits.failuresPerAddress
        )
        LogSink.standardError.setLevel(configuration.logLevel)
        for key in lasting { self.logger.warning("this change needs a restart", ["setting": .string(key)]) }
        let renewed = types.filter { type in
            !before.contains { $0.identifier == type.identifier && $0.identityDigest == type.identityDigest }
        }
        for type in renewed {
            self.logger.notice(
                "another identity is in force",
                [
                    "orderType": .string(type.identifier.text), "serial": .string(type.identity.serial),
                    "expires": .string(WallTime(seconds: type.identity.chainNotAfter).rfc3339),
                ]
            )
        }
        self.logger.notice("configuration reloaded", ["orderTypes": .integer(types.count)])
    }

    /// A new identity that can't sign now would take the place of one that can.
    private func faults(of types: [OrderTypeSettings]) -> [String] {
        types.compactMap { type in
            if self.parts.types[type.identifier]?.identityDigest == type.identityDigest { return nil }
            return OrderTypeLoading.fault(of: type)
        }
    }

    /// The settings that differ from those the process was started with, and stay as they were.
    private func lasting(_ configuration: ServerConfiguration) -> [String] {
        var keys = Self.fixed.filter { configuration.values.text($0) != self.start.values.text($0) }
        if (configuration.deviceCertificate == nil) != (self.start.deviceCertificate == nil) {
            keys.append("device.certificate")
        }
        return keys
    }

    /// The types that this process can serve: its routes were made at the start, so a new path of a web service URL has to
    /// wait, and with it a new type below that path.
    private func served(_ types: [OrderTypeSettings]) -> [OrderTypeSettings] {
        guard let prefixes = self.parts.devicePrefixes else { return types }
        return types.compactMap { type in
            if prefixes.contains(DeviceAPI.pathPrefix(of: type.webServiceURL)) { return type }
            self.logger.warning(
                "this change needs a restart",
                ["setting": .string("orderTypes.\(type.identifier.text).webServiceURL"), "part": "path"]
            )
            guard let present = self.parts.types[type.identifier] else { return nil }
            var type = type
            type.webServiceURL = present.webServiceURL
            return type
        }
    }
}
