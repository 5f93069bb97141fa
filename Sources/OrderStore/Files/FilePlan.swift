// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import PostgreSQL

/// Which files a revision pins: the order's own, those of its type that its document names, and the strings tables.
struct FilePlan: Sendable {
    /// All of them, by name.
    let parts: [OrderPart]
    /// Strings files made here, whose contents have to be stored.
    let made: [OrderFile]
    /// Names in the document that no file answers to.
    let missing: [String]
    /// The version of the type's files.
    let version: Int64
    /// What they weigh.
    let weight: PackageWeight

    /// What to read about the type, in this order: its version first, so that a change between leaves an older version
    /// on newer files and the next revision pins them again.
    static func typeStatements(
        _ orderType: OrderTypeIdentifier,
        _ references: Set<String>
    ) -> [(Statement, [PostgresValue])] {
        let stems = Set(references.flatMap { [FileName($0).stem, $0] })
        return [
            (FileStatements.readPartsVersion, [.text(orderType.text)]),
            (FileStatements.readTypePartsByStem, [.text(orderType.text), .texts(stems.sorted())]),
            (FileStatements.readTypeStrings, [.text(orderType.text)]),
        ]
    }

    /// Chooses the files. A file of the order takes the place of all files of the type that serve the same name.
    ///
    /// - Parameters:
    ///   - own: the order's own files, with the sizes of their contents.
    ///   - typeRows: the answers to ``typeStatements(_:_:)``.
    init(
        own: [(part: OrderPart, size: Int)],
        references: Set<String>,
        ownStrings: [(locale: String, table: JSONObject)],
        typeRows: [Rows]
    ) throws {
        guard typeRows.count >= 3 else { throw StoreError(.corrupt, "The files of the order type were not read.") }
        self.version = try typeRows[0].first?.int(0) ?? 1
        var typeFiles: [(name: String, digest: SHA256Digest)] = []
        var sizes: [SHA256Digest: Int] = [:]
        for row in typeRows[1] {
            let digest = SHA256Digest(bytes: try row.bytes(1))
            typeFiles.append((try row.text(0), digest))
            sizes[digest] = Int(try row.int(2))
        }
        var chosen: [String: OrderPart] = [:]
        var missing: [String] = []
        for (part, size) in own {
            try OrderFile.check(path: part.name)
            chosen[part.name] = part
            sizes[part.digest] = size
        }
        let own = own.map(\.part)
        for reference in references {
            if own.contains(where: { FileName($0.name).serves(reference) }) { continue }
            let found = typeFiles.filter { FileName($0.name).serves(reference) }
            if found.isEmpty { missing.append(reference) }
            for file in found { chosen[file.name] = OrderPart(name: file.name, digest: file.digest, origin: .type) }
        }
        var tables: [String: JSONObject] = [:]
        for row in typeRows[2] { tables[try row.text(0)] = try StringsText.table(try row.text(1)) }
        for (locale, table) in ownStrings {
            try OrderFile.check(locale: locale)
            var merged = tables[locale] ?? JSONObject()
            for member in table { merged[member.name] = member.value }
            tables[locale] = merged
        }
        var made: [OrderFile] = []
        for (locale, table) in tables.sorted(by: { $0.key < $1.key }) {
            let contents = Self.stringsFile(table)
            // Wallet's unpacker does not take an empty file.
            if contents.isEmpty { continue }
            let file = OrderFile(name: "\(locale).lproj/order.strings", contents: contents)
            made.append(file)
            sizes[file.digest] = contents.count
            chosen[file.name] = OrderPart(name: file.name, digest: file.digest, origin: .strings)
        }
        self.parts = chosen.values.sorted { $0.name.precedesInBytes($1.name) }
        var weight = PackageWeight()
        for part in self.parts { weight.add(part.name, sizes[part.digest] ?? 0) }
        self.weight = weight
        self.made = made
        self.missing = missing.sorted()
    }
}

extension FilePlan {
    /// What there is to say about the files' names and folders, as a check of the package would say it.
    var findings: [Finding] {
        let names = parts.map(\.name)
        let locales = FileNameCheck.localizationFolders(names).compactMap { folder in
            try? LocaleIdentifier(String(folder.dropLast(".lproj".count)))
        }
        return FileNameCheck.similarNames(names) + locales.flatMap(\.findings)
    }

    /// The bytes of an `order.strings` file, in the byte order of its keys: equal tables are equal files.
    static func stringsFile(_ table: JSONObject) -> [UInt8] {
        let entries = table.compactMap { member in
            member.value.stringValue.map { StringsTable.Entry(key: member.name, text: $0) }
        }
        return StringsTable(entries.sorted { $0.key.precedesInBytes($1.key) }).write()
    }
}
