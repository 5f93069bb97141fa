// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Compares an order with its languages.
public enum LocalizationCheck {
    /// Finds texts that look as if their key had been misspelt, keys that some languages lack or that nothing uses, folders
    /// of no language, and texts that are too long for a phone.
    ///
    /// A kind of field counts as localized once any of its values is a key; then each other text of that kind is told once,
    /// at its first place. Languages with different keys are an error: Apple wants the same keys in each.
    ///
    /// - Parameters:
    ///   - document: the order.
    ///   - tables: the texts of each language.
    public static func check(_ document: JSONValue, _ tables: [LocaleIdentifier: StringsTable]) -> [Finding] {
        if tables.isEmpty { return [] }
        var comparison = Comparison(document, tables.sorted { $0.key < $1.key })
        comparison.checkTables()
        comparison.checkTexts()
        comparison.checkKeys()
        comparison.checkLengths()
        comparison.checkDefaultLanguage()
        return comparison.bounded.list
    }

    /// The order's texts beside those of all languages.
    private struct Comparison {
        let tables: [(key: LocaleIdentifier, value: StringsTable)]
        let texts: [TextWalk.Localizable]
        /// All keys in the order in which they first stand.
        let keys: [String]
        private let known: Set<ExactKey>
        /// Keys that a misspelt text most likely meant.
        private var meant: Set<ExactKey> = []
        private(set) var bounded = BoundedFindings()

        init(_ document: JSONValue, _ tables: [(key: LocaleIdentifier, value: StringsTable)]) {
            self.tables = tables
            texts = TextWalk(document, for: .texts).texts
            var known: Set<ExactKey> = []
            keys = tables.flatMap(\.value.keys).filter { known.insert(ExactKey($0)).inserted }
            self.known = known
        }

        /// Bounds the work: who misspells more than this has another reason.
        private static let suggestionLimit = 50

        /// The folders' names, and keys that stand in a file twice.
        mutating func checkTables() {
            for (locale, table) in tables {
                for finding in locale.findings { bounded.append(finding) }
                for repeated in table.repeated {
                    bounded.append(Finding(strings: repeated, path: locale.folder + "/order.strings"))
                }
            }
        }

        mutating func checkTexts() {
            let localizedKinds = Set(texts.filter { known.contains(ExactKey($0.text)) }.map(\.kind))
            var told: Set<ExactKey> = []
            var search = NearMiss(keys)
            for text in texts where localizedKinds.contains(text.kind) && !known.contains(ExactKey(text.text)) {
                guard bounded.hasRoom(for: .warning), told.insert(ExactKey(text.text)).inserted else { continue }
                let near = told.count > Self.suggestionLimit ? nil : search.find(text.text)
                if let near { meant.insert(ExactKey(near)) }
                bounded.append(
                    Finding(
                        severity: .warning,
                        code: "string-key",
                        pointer: text.pointer,
                        message:
                            "\"\(DocumentWalk.shown(text.text))\" is no key of order.strings, though other texts of"
                            + " \(text.kind) are; Wallet shows it as it is.",
                        fix: (near.map { "Did you mean \"\($0)\"? " } ?? "")
                            + "Add the key to every order.strings, or leave it if the text is the same everywhere."
                    )
                )
            }
        }

        mutating func checkKeys() {
            var differ = false
            for (locale, table) in tables {
                // A table's keys are all among `keys`, so counts tell; only the first names are looked for.
                let count = keys.count - table.entries.count
                if count == 0 { continue }
                differ = true
                if !bounded.hasRoom(for: .error) { break }
                let missing = Array(keys.lazy.filter { table[$0] == nil }.prefix(6))
                add(
                    .error,
                    "strings-keys-differ",
                    locale,
                    "\(Self.count(count, "key")) of other languages \(count == 1 ? "is" : "are") missing:"
                        + " \(Self.list(missing)).",
                    fix: "Give every language the same keys."
                )
            }
            // Different keys are reason enough for some to be useless; and where there is no order, nobody knows.
            guard !differ, !texts.isEmpty, let locale = tables.first?.key else { return }
            let used = Set(texts.lazy.map { ExactKey($0.text) }).union(meant)
            let unused = keys.filter { !used.contains(ExactKey($0)) }
            if unused.isEmpty { return }
            // One key of many is soon left behind, and texts that orders share may be for a later status; but when none is used
            // and one is nearly a text, it was misspelt.
            let isAll = unused.count == keys.count
            var search = NearMiss(isAll ? texts.prefix(1_000).map(\.text) : [])
            var hint = ""
            for key in unused.prefix(isAll ? Self.suggestionLimit : 0) {
                guard let text = search.find(key) else { continue }
                hint = "Did you mean \"\(DocumentWalk.shown(text))\" by \"\(DocumentWalk.shown(key))\"? "
                break
            }
            add(
                hint.isEmpty ? .note : .warning,
                "strings-key-unused",
                locale,
                "No localizable text of the order is \(unused.count == 1 ? "this key" : "one of these keys"):"
                    + " \(Self.list(unused))\(isAll ? "; so nothing is translated" : "").",
                fix: hint + "Use the key as the text in order.json, or take it out of every order.strings."
            )
        }

        /// Texts of fields that phones have little room for.
        mutating func checkLengths() {
            var limits: [ExactKey: (field: String, limit: Int)] = [:]
            for text in texts {
                let field = String(text.kind.split(separator: ".").last ?? "")
                guard let limit = TextLimit.characters[field],
                    limits[ExactKey(text.text)].map({ limit < $0.limit }) ?? true
                else {
                    continue
                }
                limits[ExactKey(text.text)] = (field, limit)
            }
            for (locale, table) in tables {
                for entry in table.entries {
                    guard bounded.hasRoom(for: .note) else { return }
                    guard let (field, limit) = limits[ExactKey(entry.key)],
                        let count = TextLimit.count(entry.text, above: limit)
                    else { continue }
                    let fault = TextLimit.fault(count, limit, field)
                    let key = DocumentWalk.shown(entry.key)
                    add(.note, "text-too-long", locale, "\"\(key)\": \(fault.message).", fix: fault.fix)
                }
            }
        }

        /// Nobody knows all languages of the devices, so there has to be one for the others: keys that are no text are none.
        mutating func checkDefaultLanguage() {
            guard let locale = tables.first?.key, !tables.contains(where: { $0.key.language.lowercased() == "en" }),
                let key = texts.lazy.map(\.text).first(where: { known.contains(ExactKey($0)) && Self.looksLikeName($0) }
                )
            else { return }
            add(
                .note,
                "no-default-language",
                locale,
                "Devices in other languages may show the key \"\(DocumentWalk.shown(key))\" itself.",
                fix: "Add en.lproj, or use the texts of the most common language as keys."
            )
        }

        /// `NutWarning`, `nut_warning`, `nut.warning`: a name for programs, not for people.
        private static func looksLikeName(_ key: String) -> Bool {
            let scalars = key.unicodeScalars
            if scalars.contains(where: \.properties.isWhitespace) { return false }
            if scalars.dropLast().contains(where: { $0 == "_" || $0 == "." }) { return true }
            return zip(scalars, scalars.dropFirst()).contains { $0.properties.isLowercase && $1.properties.isUppercase }
        }

        private static func count(_ number: Int, _ noun: String) -> String {
            "\(number) \(noun)\(number == 1 ? "" : "s")"
        }

        private static func list(_ keys: [String]) -> String {
            keys.prefix(5).map { "\"\(DocumentWalk.shown($0))\"" }.joined(separator: ", ")
                + (keys.count > 5 ? ", …" : "")
        }

        private mutating func add(
            _ severity: Finding.Severity,
            _ code: String,
            _ locale: LocaleIdentifier,
            _ message: String,
            fix: String
        ) {
            bounded.append(
                Finding(
                    severity: severity,
                    code: code,
                    path: locale.folder + "/order.strings",
                    message: message,
                    fix: fix
                )
            )
        }
    }
}
