// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import OrderPackage
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
    /// What is known of each, for ``findings(of:)``.
    private let known: [ExactKey: KnownFile]

    /// A file of the order's own.
    struct OwnFile {
        let part: OrderPart
        /// In bytes.
        let size: Int
        let known: KnownFile

        /// One that just came in.
        init(_ file: OrderFile) {
            self.part = OrderPart(name: file.name, digest: file.digest, origin: .order)
            self.size = file.contents.count
            self.known = .contents(file.contents)
        }

        /// One that is pinned.
        init(_ part: OrderPart, size: Int, firstBytes: [UInt8]) {
            self.part = part
            self.size = size
            self.known = .format(AssetFormat(firstBytes))
        }
    }

    /// What to read about the type, in this order: its version first, so that a change between leaves an older version
    /// on newer files and the next revision pins them again.
    static func typeStatements(
        _ orderType: OrderTypeIdentifier,
        // short: PackagePaths and locales, which are short ASCII.
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
    ///   - own: the order's own files.
    ///   - typeRows: the answers to ``typeStatements(_:_:)``.
    init(
        own: [OwnFile],
        // short: PackagePaths and locales, which are short ASCII.
        references: Set<String>,
        ownStrings: [(locale: String, table: JSONObject)],
        typeRows: [Rows]
    ) throws {
        guard typeRows.count >= 3 else { throw StoreError(.corrupt, "The files of the order type were not read.") }
        self.version = try typeRows[0].first?.int(0) ?? 1
        var typeFiles: [(name: String, digest: SHA256Digest, known: KnownFile)] = []
        var known: [ExactKey: KnownFile] = [:]
        var sizes: [SHA256Digest: Int] = [:]
        for row in typeRows[1] {
            let digest = try SHA256Digest(stored: row.bytes(1))
            typeFiles.append((try row.text(0), digest, .format(AssetFormat(try row.bytes(3)))))
            sizes[digest] = Int(try row.int(2))
        }
        // short: PackagePaths and locales, which are short ASCII.
        var chosen: [String: OrderPart] = [:]
        var missing: [String] = []
        for file in own {
            try OrderFile.check(path: file.part.name)
            chosen[file.part.name] = file.part
            sizes[file.part.digest] = file.size
            known[ExactKey(file.part.name)] = file.known
        }
        let own = own.map(\.part)
        for reference in references {
            if own.contains(where: { FileName($0.name).serves(reference) }) { continue }
            let found = typeFiles.filter { FileName($0.name).serves(reference) }
            if found.isEmpty { missing.append(reference) }
            for file in found {
                chosen[file.name] = OrderPart(name: file.name, digest: file.digest, origin: .type)
                known[ExactKey(file.name)] = file.known
            }
        }
        // short: PackagePaths and locales, which are short ASCII.
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
            let texts = Self.texts(table)
            let contents = texts.write()
            // Wallet's unpacker does not take an empty file.
            if contents.isEmpty { continue }
            let file = OrderFile(name: "\(locale).lproj/order.strings", contents: contents)
            made.append(file)
            sizes[file.digest] = contents.count
            chosen[file.name] = OrderPart(name: file.name, digest: file.digest, origin: .strings)
            known[ExactKey(file.name)] = .texts(texts)
        }
        self.parts = chosen.values.sorted { $0.name.precedesInBytes($1.name) }
        var weight = PackageWeight()
        for part in self.parts { weight.add(part.name, sizes[part.digest] ?? 0) }
        self.weight = weight
        self.made = made
        self.known = known
        self.missing = missing.sorted()
    }
}

extension FilePlan {
    /// What there is to say about an order's files and texts, as a check of its package would say it: errors are warnings
    /// here, since what is missing may follow. Only a file of the order's own that is no such thing as the order names it
    /// stays an error: it can't become one. Files that are not there are ``missing``, and not told again.
    func findings(of order: JSONValue) -> [Finding] {
        let missing = Set(self.missing)
        let untold = missing.isEmpty ? [] : FileReference.all(in: order).filter { missing.contains($0.name) }
        let told = Set(untold.map(\.pointer))
        let own = Set(parts.lazy.filter { $0.origin == .order }.map(\.name))
        let all = FileCheck.check(order, known) + Self.nameFindings(parts.map(\.name), texts: known)
        return all.compactMap { finding in
            if finding.severity == .note || finding.code == "file-missing" && told.contains(finding.pointer ?? .root) {
                return nil
            }
            if finding.code == "file-format", let path = finding.path, own.contains(path) { return finding }
            return finding.asWarning
        }
    }

    /// What there is to say about files and texts that all orders of a type share, whatever the orders name.
    static func findings(ofType names: [String], _ tables: [(locale: String, table: JSONObject)]) -> [Finding] {
        var known: [ExactKey: KnownFile] = [:]
        for name in names { known[ExactKey(name)] = .format(nil) }
        for (locale, table) in tables where !table.isEmpty {
            known[ExactKey("\(locale).lproj/order.strings")] = .texts(texts(table))
        }
        let all = FileCheck.check(.null, known) + nameFindings(known.keys.map(\.text), texts: known)
        return all.filter { $0.severity != .note && $0.code != "file-unused" }.map(\.asWarning)
    }

    /// What a check of the texts does not say: names that are one to a Mac's disk, and folders without texts that are
    /// spelt unlike others.
    private static func nameFindings(_ names: [String], texts: [ExactKey: KnownFile]) -> [Finding] {
        let locales = FileNameCheck.localizationFolders(names).compactMap { folder in
            texts[ExactKey(folder + "/order.strings")] == nil
                ? try? LocaleIdentifier(String(folder.dropLast(".lproj".count))) : nil
        }
        return FileNameCheck.similarNames(names) + locales.flatMap(\.findings)
    }

    /// The bytes of an `order.strings` file, in the byte order of its keys: equal tables are equal files.
    static func stringsFile(_ table: JSONObject) -> [UInt8] { texts(table).write() }

    private static func texts(_ table: JSONObject) -> StringsTable {
        let entries = table.compactMap { member in
            member.value.stringValue.map { StringsTable.Entry(key: member.name, text: $0) }
        }
        return StringsTable(entries.sorted { $0.key.precedesInBytes($1.key) })
    }
}

extension Finding {
    /// The same, for something that may be put right later.
    fileprivate var asWarning: Finding {
        guard isError else { return self }
        var finding = self
        finding.severity = .warning
        finding.message += " Until this is put right, a phone may refuse the package."
        return finding
    }
}
