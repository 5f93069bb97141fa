// SPDX-License-Identifier: Apache-2.0
import Cryptography
internal import OrderModel
package import OrderPackage
internal import PostgreSQL
internal import ServiceRuntime

/// A revision's signed package, with what its answer's header says.
package struct SignedPackage: Sendable {
    /// The bytes.
    package let package: OrderPackage
    /// The strong tag of these bytes, quoted.
    package let entityTag: String
    /// The revision.
    package let head: OrderHead
}

/// Why a package can't be given out now.
package struct SignedPackagesError: Error, Sendable {
    /// The kinds of reason.
    package enum Code: Sendable {
        /// This process has no identity for the order's type.
        case typeNotConfigured
        /// The identity had expired before this revision was made: a new certificate is needed.
        case identityExpired
        /// The stored revision names a file that is not there.
        case missingAsset
        /// The revision makes no package: its files are too large together, or a stored file is no longer what it was.
        case unbuildable
    }
    /// The kind of reason.
    package let code: Code
    /// What is wrong and what to do.
    package let message: String
}

/// Builds and keeps the signed packages of stored revisions.
///
/// A package is a function of the revision and the identity alone, the same bytes on every machine (design 4), so nothing
/// signed is stored: what is asked for is built, and kept in memory while there is room. Equal requests at the same time
/// wait for one build.
package final class SignedPackages: Sendable {
    /// Part of every tag: changes when the same revision would get other bytes from a newer builder.
    private static let builderVersion = "1"

    /// What one shelf place holds: the bytes of one order under one tag.
    private struct Place: Hashable, Sendable {
        let key: OrderKey
        let entityTag: String
    }
    private typealias Waiting = CheckedContinuation<SignedPackage?, any Error>
    private enum Entry: Sendable {
        case building([Waiting])
        case ready(SignedPackage, lastUse: UInt64)
    }
    private struct Shelf: Sendable {
        var entries: [Place: Entry] = [:]
        var bytes = 0
        var clock: UInt64 = 0

        /// A package that is ready, marked as used.
        mutating func take(_ place: Place) -> SignedPackage? {
            guard case .ready(let package, _) = entries[place] else { return nil }
            clock += 1
            entries[place] = .ready(package, lastUse: clock)
            return package
        }
    }

    private let store: OrderStore
    private let types: OrderTypeDirectory
    private let assets: AssetCache
    private let capacity: Int
    private let shelf = Locked(Shelf())

    /// Makes an empty shelf.
    ///
    /// - Parameter capacity: how many bytes of packages, and again of assets, are kept.
    package init(store: OrderStore, types: OrderTypeDirectory, capacity: Int = 64 << 20) {
        self.store = store
        self.types = types
        self.capacity = capacity
        self.assets = AssetCache(capacity: capacity)
    }

    /// The bytes of packages held now.
    package var byteCount: Int { self.shelf.withLock { $0.bytes } }

    /// The strong tag that a revision's package has, quoted, without building it: over the content, the certificates, the
    /// address that devices are told and the builder, never over the revision's number (store-design 2).
    package func entityTag(of head: OrderHead) throws(SignedPackagesError) -> String {
        Self.entityTag(of: head, try self.settings(for: head.key))
    }

    private static func entityTag(of head: OrderHead, _ settings: OrderTypeSettings) -> String {
        let inputs =
            head.digest.bytes + settings.identityDigest.bytes
            + Array("/\(settings.webServiceURL)/\(self.builderVersion)".utf8)
        return "\"\(Base64URL.encode(Array(SHA256.hash(inputs).bytes.prefix(18))))\""
    }

    /// The signed package of a head that was read just now: from memory without another query when it is there. Otherwise,
    /// or when the order has moved on, that of its present revision.
    ///
    /// - Returns: nil when the order was erased.
    /// - Throws: as ``package(_:)``.
    package func package(of head: OrderHead) async throws -> SignedPackage? {
        // A tombstone keeps the digest of what was erased, which may still be on the shelf.
        if head.isErased { return nil }
        let place = Place(key: head.key, entityTag: try self.entityTag(of: head))
        if let ready = self.shelf.withLock({ $0.take(place) }) { return ready }
        return try await self.package(head.key)
    }

    /// The signed package of an order's present revision; nil when the order is unknown or erased.
    ///
    /// - Throws: `SignedPackagesError` or the database's error.
    package func package(_ key: OrderKey) async throws -> SignedPackage? {
        let settings = try self.settings(for: key)
        guard let source = try await self.store.package(key) else { return nil }
        let place = Place(key: key, entityTag: Self.entityTag(of: source.head, settings))
        enum Next { case give(SignedPackage), build, wait }
        while true {
            let next = self.shelf.withLock { shelf -> Next in
                if let ready = shelf.take(place) { return .give(ready) }
                if shelf.entries[place] != nil { return .wait }
                shelf.entries[place] = .building([])
                return .build
            }
            switch next {
            case .give(let package): return package
            case .build: return try await self.fill(place, source, settings)
            case .wait: if let built = try await self.wait(for: place) { return built }
            }
        }
    }

    /// Builds what this caller was the first to ask for, and tells those who wait.
    private func fill(
        _ place: Place,
        _ source: PackageSource,
        _ settings: OrderTypeSettings
    ) async throws -> SignedPackage {
        do {
            let package: SignedPackage
            do { package = try await self.build(source, settings, place.entityTag) } catch let error
                as OrderPackageError
            {
                throw SignedPackagesError(code: .unbuildable, message: "a revision makes no package: \(error.message)")
            }
            self.finish(place, .success(package))
            return package
        } catch {
            // Whoever went away or has no time left fails its own build only: those who wait try again without it.
            let isOurs = Task.isCancelled || RequestTime.isOver
            self.finish(place, isOurs ? .success(nil) : .failure(error))
            throw error
        }
    }

    /// Waits for a build under way; nil when it has ended without a package.
    private func wait(for place: Place) async throws -> SignedPackage? {
        try await withCheckedThrowingContinuation { (continuation: Waiting) in
            let result = self.shelf.withLock { shelf -> SignedPackage?? in
                switch shelf.entries[place] {
                case .building(let waiting):
                    shelf.entries[place] = .building(waiting + [continuation])
                    return .none
                case .ready(let package, _): return .some(package)
                case nil: return .some(nil)
                }
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    private func finish(_ place: Place, _ result: Result<SignedPackage?, any Error>) {
        let waiting = self.shelf.withLock { shelf -> [Waiting] in
            let waiting: [Waiting]
            if case .building(let list) = shelf.entries[place] { waiting = list } else { waiting = [] }
            shelf.entries[place] = nil
            if case .success(let package?) = result, package.package.byteCount <= self.capacity / 4 {
                shelf.clock += 1
                shelf.entries[place] = .ready(package, lastUse: shelf.clock)
                shelf.bytes += package.package.byteCount
                if shelf.bytes > self.capacity { Self.makeRoom(&shelf, self.capacity) }
            }
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Takes the longest unused away until a quarter is free, so that the sort is paid rarely.
    private static func makeRoom(_ shelf: inout Shelf, _ capacity: Int) {
        let ready = shelf.entries.compactMap { place, entry -> (place: Place, lastUse: UInt64, bytes: Int)? in
            if case .ready(let package, let lastUse) = entry { return (place, lastUse, package.package.byteCount) }
            return nil
        }
        for entry in ready.sorted(by: { $0.lastUse < $1.lastUse }) where shelf.bytes > capacity * 3 / 4 {
            shelf.entries[entry.place] = nil
            shelf.bytes -= entry.bytes
        }
    }

    private func build(
        _ source: PackageSource,
        _ settings: OrderTypeSettings,
        _ tag: String
    ) async throws -> SignedPackage {
        let identity = settings.identity
        // A chain renewed since signs older revisions too; one that had ended by then can't.
        guard identity.signingTime(for: source.head.madeAt.seconds) <= identity.chainNotAfter else {
            throw SignedPackagesError(
                code: .identityExpired,
                message: "the certificate of \(source.head.key.orderType.text) had expired when the revision was made; "
                    + "renew it and reload"
            )
        }
        let files = try await self.files(of: source)
        let order = source.document.packageForm(
            updatedAt: source.head.modifiedAt.seconds,
            webServiceURL: settings.webServiceURL,
            authenticationToken: try self.store.authenticationToken(for: source.head)
        )
        let package = try PackageBuilder(identity: identity).build(
            order,
            of: source.document,
            files: files,
            signingTime: source.head.madeAt.seconds
        )
        return SignedPackage(package: package, entityTag: tag, head: source.head)
    }

    /// The revision's files: images from memory as far as they are there, the rest in one query.
    private func files(of source: PackageSource) async throws -> [PackageFile] {
        let known = self.knownAssets(of: source)
        let missing = Set(source.parts.map(\.digest).filter { known[$0] == nil })
        if missing.isEmpty { return try self.assemble(source, known, [:]) }
        return try self.assemble(
            source,
            known,
            try await self.store.assets(source.head.key.orderType, Array(missing))
        )
    }

    private func knownAssets(of source: PackageSource) -> [SHA256Digest: Asset] {
        var known: [SHA256Digest: Asset] = [:]
        for part in source.parts where part.origin != .strings { known[part.digest] = self.assets.asset(part.digest) }
        return known
    }

    /// Puts files and paths together. Apart from `files(of:)` because Swift 6.3's optimizer crashes on typed throws in an
    /// async function.
    private func assemble(
        _ source: PackageSource,
        _ known: [SHA256Digest: Asset],
        _ fetched: [SHA256Digest: [UInt8]]
    ) throws -> [PackageFile] {
        var files: [PackageFile] = []
        files.reserveCapacity(source.parts.count)
        for part in source.parts {
            if let asset = known[part.digest] {
                files.append(try PackageFile(path: part.name, asset: asset))
                continue
            }
            guard let contents = fetched[part.digest] else {
                throw SignedPackagesError(
                    code: .missingAsset,
                    message: "the file \(part.name) of a revision is not in the database"
                )
            }
            if part.origin == .strings {
                files.append(try PackageFile(path: part.name, contents: contents))
            } else {
                let asset = try Asset(contents)
                self.assets.insert(asset)
                files.append(try PackageFile(path: part.name, asset: asset))
            }
        }
        return files
    }

    private func settings(for key: OrderKey) throws(SignedPackagesError) -> OrderTypeSettings {
        guard let settings = self.types[key.orderType] else {
            throw SignedPackagesError(
                code: .typeNotConfigured,
                message: "no identity is configured for \(key.orderType.text): add orderTypes.\(key.orderType.text)"
            )
        }
        return settings
    }
}
