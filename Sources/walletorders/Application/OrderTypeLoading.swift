// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime

/// Turns configured order types into loaded ones: reads the identities and checks them.
enum OrderTypeLoading {
    /// Loads all types; all faults come together.
    ///
    /// - Throws: `ConfigurationError`.
    static func load(_ types: [ServerConfiguration.OrderType]) async throws -> [OrderTypeSettings] {
        var loaded: [OrderTypeSettings] = []
        var faults: [String] = []
        for type in types {
            do { loaded.append(try await self.load(type)) } catch let error as ConfigurationError {
                faults += error.faults
            } catch {
                faults.append("orderTypes.\(type.identifier.text): \(error)")
            }
        }
        if !faults.isEmpty { throw ConfigurationError(faults) }
        return loaded
    }

    /// What keeps an identity from signing now; nil when nothing does.
    static func fault(of type: OrderTypeSettings) -> String? {
        let name = "orderTypes.\(type.identifier.text).identity"
        switch type.identity.validity(at: WallTime.now().seconds) {
        case .valid, .ending: return nil
        case .expired: return "\(name): the certificate has expired; renew it in Apple's developer portal"
        case .notYetValid: return "\(name): the certificate is not valid yet; look at this machine's clock"
        }
    }

    /// The files that are named and aren't there, each with its key: told together, as no other of them is read then.
    private static func missingFiles(of type: ServerConfiguration.OrderType) async throws -> [String] {
        let files = [
            ("identity", type.identity), ("key", type.key), ("passphraseFile", type.passphraseFile),
            ("intermediates", type.intermediates), ("apns.trust", type.apnsTrust),
        ]
        let name = type.identifier.text
        return try await runBlocking {
            files.compactMap { key, path in
                guard let path, !Files.exists(path) else { return nil }
                return "orderTypes.\(name).\(key): \(path) is not there, or may not be looked at"
            }
        }
    }

    private static func load(_ type: ServerConfiguration.OrderType) async throws -> OrderTypeSettings {
        let missing = try await self.missingFiles(of: type)
        if !missing.isEmpty { throw ConfigurationError(missing) }
        let identity = try await self.identity(
            file: type.identity,
            key: type.key,
            intermediates: type.intermediates.map { [$0] } ?? [],
            passphraseFile: type.passphraseFile,
            for: type.identifier
        )
        guard identity.orderTypeIdentifier == type.identifier else {
            throw ConfigurationError([
                "orderTypes.\(type.identifier.text).identity: the certificate in \(type.identity) is for "
                    + "\(identity.orderTypeIdentifier.text); use that name, or the certificate of this order type"
            ])
        }
        var trust: [Certificate]?
        if let path = type.apnsTrust { trust = try await self.certificates(path) }
        return OrderTypeSettings(
            identifier: type.identifier,
            identity: identity,
            webServiceURL: type.webServiceURL,
            completeWhenFulfilled: type.completeWhenFulfilled,
            keepsUnknownFields: type.keepsUnknownFields,
            apns: APNsSettings(
                host: type.apnsHost,
                port: type.apnsPort,
                trust: trust,
                pushType: type.apnsPushType,
                priority: type.apnsPriority,
                expiration: type.apnsExpiration
            )
        )
    }

    /// Reads an identity from its files; of several, the one for an order type.
    static func identity(
        file: String,
        key: String?,
        intermediates: [String],
        passphraseFile: String?,
        for type: OrderTypeIdentifier
    ) async throws -> SigningIdentity {
        try await runBlocking {
            var files = SigningIdentity.Files(identity: file, key: key, intermediates: intermediates)
            if let passphraseFile { try files.readPassphrase(passphraseFile) }
            return try SigningIdentity.load(files, for: type)
        }
    }

    /// Reads the certificates of a PEM file, or the one of a DER file, as Apple publishes its own.
    static func certificates(_ path: String) async throws -> [Certificate] {
        do { return try await runBlocking { try SigningIdentity.readCertificates(path) } } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
    }

    /// Reads a file off the loops.
    static func read(_ path: String) async throws -> [UInt8] {
        do { return try await runBlocking { try Files.read(path) } } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
    }
}
