// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import OrderModel
import PostgreSQL
import ServiceRuntime

/// A file of a type, which later revisions of its orders may use.
package struct TypeFile: Sendable, Hashable {
    /// Path inside packages.
    package let name: String
    /// SHA-256 of the contents.
    package let digest: SHA256Digest
    /// When it was last replaced.
    package let changedAt: Moment
}

/// What has to be at the place of a type's file before it is changed.
package enum FileCondition: Sendable {
    /// Anything or nothing.
    case any
    /// No file.
    case absent
    /// A file whose digest passes.
    case present(@Sendable (SHA256Digest) -> Bool)

    func holds(for digest: SHA256Digest?) -> Bool {
        switch self {
        case .any: true
        case .absent: digest == nil
        case .present(let passes): digest.map(passes) ?? false
        }
    }
}

extension OrderStore {
    /// The contents with a digest; nil when the type has none such.
    package func asset(_ orderType: OrderTypeIdentifier, _ digest: SHA256Digest) async throws -> [UInt8]? {
        try await assets(orderType, [digest])[digest]
    }

    /// Contents by digest, those that the type has.
    package func assets(
        _ orderType: OrderTypeIdentifier,
        _ digests: [SHA256Digest]
    ) async throws -> [SHA256Digest: [UInt8]] {
        if digests.isEmpty { return [:] }
        let rows = try await client.query(
            FileStatements.readAssets,
            [.text(orderType.text), .bytesArray(digests.map(\.bytes))]
        )
        var contents: [SHA256Digest: [UInt8]] = [:]
        for row in rows { contents[try SHA256Digest(stored: row.bytes(0))] = try row.bytes(1) }
        return contents
    }

    /// Gives a type a file. Revisions that exist keep what they pinned.
    ///
    /// - Throws: ``StoreError`` with `packageTooLarge` when no package could hold it with what goes into packages beside
    ///   it: its other resolutions and languages, and the type's strings; `preconditionFailed`.
    package func putTypeFile(
        _ file: OrderFile,
        of orderType: OrderTypeIdentifier,
        _ condition: FileCondition = .any
    ) async throws {
        try OrderFile.check(path: file.name)
        let isMade = Locked(false)
        try await ensureOrderType(orderType)
        try await transaction { connection in
            let present = try await Self.lock(file.name, of: orderType, on: connection)
            if !Self.isDone(file, present, condition, isAgain: isMade.withLock { $0 }) {
                try Self.check(condition, present)
            }
            let results = try await connection.pipeline([
                Self.putAssets([file], orderType),
                (FileStatements.touchTypePart, [.text(orderType.text), .text(file.name)]),
                (
                    FileStatements.putTypePart,
                    [
                        .text(orderType.text), .text(file.name), .text(FileName(file.name).stem),
                        .bytes(file.digest.bytes),
                    ]
                ),
                (FileStatements.readTypePartsByStem, [.text(orderType.text), .texts([FileName(file.name).stem])]),
                (FileStatements.readTypeStrings, [.text(orderType.text)]),
            ])
            var weight = try Self.weight(typeStrings: results[4])
            for row in results[3] where FileName(try row.text(0)).plain == FileName(file.name).plain {
                weight.add(try row.text(0), Int(try row.int(2)))
            }
            if let refusal = weight.refusal(document: 0) { throw refusal }
            if results[2].affected > 0 {
                _ = try await connection.query(FileStatements.raisePartsVersion, [.text(orderType.text)])
            }
            isMade.withLock { $0 = true }
        }
    }

    /// Whether what was asked for is there, by a try before that got no answer it may be: then no condition keeps the caller
    /// from hearing that it is done. Of `If-Match` that holds for whoever asks again, too (RFC 9110 13.1.1); a file that must
    /// not be there yet is refused to a second request, which may be another's.
    private static func isDone(
        _ file: OrderFile,
        _ present: SHA256Digest?,
        _ condition: FileCondition,
        isAgain: Bool
    ) -> Bool {
        guard present == file.digest else { return false }
        if case .present = condition { return true }
        return isAgain
    }

    /// Lets nobody else change a file of the type until the transaction ends, and says which one is there.
    ///
    /// Every change of a type's files begins so, also one without a condition: the type's row is locked before any contents,
    /// or a change that has them would wait for one that has the row, and that one for the contents.
    private static func lock(
        _ name: String,
        of orderType: OrderTypeIdentifier,
        on connection: PostgresConnection
    ) async throws -> SHA256Digest? {
        let type = PostgresValue.text(orderType.text)
        // The second is a later statement, so that it reads what the lock protects.
        let rows = try await connection.pipeline([
            (FileStatements.lockOrderType, [type]), (FileStatements.readTypePartDigest, [type, .text(name)]),
        ])
        return try rows[1].first.map { try SHA256Digest(stored: $0.bytes(0)) }
    }

    private static func check(_ condition: FileCondition, _ present: SHA256Digest?) throws {
        guard condition.holds(for: present) else {
            throw StoreError(
                .preconditionFailed,
                "The file is not what If-Match or If-None-Match asks for. Read it again."
            )
        }
    }

    /// What the strings of a type weigh, which every package of the type holds.
    static func weight(typeStrings rows: Rows) throws -> PackageWeight {
        var weight = PackageWeight()
        for row in rows {
            let table = try StringsText.table(try row.text(1))
            weight.add("\(try row.text(0)).lproj/order.strings", FilePlan.stringsFile(table).count)
        }
        return weight
    }

    /// Takes a file from a type.
    ///
    /// - Throws: ``StoreError`` with `assetNotFound`, `preconditionFailed`.
    package func removeTypeFile(
        _ name: String,
        of orderType: OrderTypeIdentifier,
        _ condition: FileCondition = .any
    ) async throws {
        let isMade = Locked(false)
        let wasThere = try await transaction { connection in
            let place: [PostgresValue] = [.text(orderType.text), .text(name)]
            // A lock is a change, too: the commit waits for the standby, also when the file is gone already.
            let present = try await Self.lock(name, of: orderType, on: connection)
            // Made by the run before, it may be, whose commit was not answered for.
            if present == nil, isMade.withLock({ $0 }) { return true }
            try Self.check(condition, present)
            guard present != nil else { return false }
            _ = try await connection.pipeline([
                (FileStatements.touchTypePart, place), (FileStatements.removeTypePart, place),
                (FileStatements.raisePartsVersion, [.text(orderType.text)]),
            ])
            isMade.withLock { $0 = true }
            return true
        }
        if !wasThere { throw StoreError(.assetNotFound, "The order type has no file of this name.") }
    }

    /// What there is to say about a type's files and texts, whichever orders use them: folders without texts, keys that
    /// differ, names that are alike.
    package func typeFindings(of orderType: OrderTypeIdentifier) async throws -> [Finding] {
        let type = PostgresValue.text(orderType.text)
        let rows = try await client.withConnection { connection in
            try await connection.pipeline([
                (FileStatements.listTypeParts, [type]), (FileStatements.readTypeStrings, [type]),
            ])
        }
        return FilePlan.findings(
            ofType: try rows[0].map { try $0.text(0) },
            try rows[1].map { (try $0.text(0), try StringsText.table(try $0.text(1))) }
        )
    }

    /// The files of a type, by name.
    package func typeFiles(of orderType: OrderTypeIdentifier) async throws -> [TypeFile] {
        try await client.query(FileStatements.listTypeParts, [.text(orderType.text)]).map { row in
            TypeFile(
                name: try row.text(0),
                digest: try SHA256Digest(stored: row.bytes(1)),
                changedAt: Moment(try row.timestamp(2))
            )
        }
    }

    /// One file of a type and its contents; nil when there is none of this name.
    package func typeFile(
        _ name: String,
        of orderType: OrderTypeIdentifier
    ) async throws -> (file: TypeFile, contents: [UInt8])? {
        let rows = try await client.query(FileStatements.readTypePart, [.text(orderType.text), .text(name)])
        guard let row = rows.first else { return nil }
        let file = TypeFile(
            name: try row.text(0),
            digest: try SHA256Digest(stored: row.bytes(1)),
            changedAt: Moment(try row.timestamp(2))
        )
        return (file, try row.bytes(3))
    }

    /// One file that was sent for an order, and its contents; a file pinned from the type is not the order's own.
    package func orderFile(
        _ name: String,
        of key: OrderKey
    ) async throws -> (digest: SHA256Digest, contents: [UInt8])? {
        let rows = try await client.query(
            FileStatements.readOwnPart,
            [.text(key.orderType.text), .text(key.order.text), .text(name)]
        )
        guard let row = rows.first else { return nil }
        return (try SHA256Digest(stored: row.bytes(0)), try row.bytes(1))
    }

    static func putAssets(_ files: [OrderFile], _ orderType: OrderTypeIdentifier) -> (Statement, [PostgresValue]) {
        var seen: Set<SHA256Digest> = []
        // One statement can't touch a row twice: the same contents under two names are one asset.
        let files = files.filter { seen.insert($0.digest).inserted }
        return (
            FileStatements.putAssets,
            [.text(orderType.text), .bytesArray(files.map(\.digest.bytes)), .bytesArray(files.map(\.contents))]
        )
    }
}
