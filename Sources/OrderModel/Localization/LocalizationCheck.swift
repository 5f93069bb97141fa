// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Compares an order with its languages.
public enum LocalizationCheck {
    /// Finds texts that look as if their key had been misspelt, and keys that some languages lack.
    ///
    /// A kind of field counts as localized once any of its values is a key; then each other text of that kind is told once,
    /// at its first place. Languages with different keys are an error: Apple wants the same keys in each.
    ///
    /// - Parameters:
    ///   - document: the order.
    ///   - tables: the texts of each language.
    public static func check(_ document: JSONValue, _ tables: [LocaleIdentifier: StringsTable]) -> [Finding] {
        if tables.isEmpty { return [] }
        var keys: Set<String> = []
        var sequence: [String] = []
        for (_, table) in tables.sorted(by: { $0.key < $1.key }) {
            for key in table.keys where keys.insert(key).inserted { sequence.append(key) }
        }
        var walk = TextWalk()
        walk.visit(document, .object(.order))
        var localizedKinds: Set<String> = []
        for text in walk.texts where keys.contains(text.text) { localizedKinds.insert(text.kind) }
        var findings: [Finding] = []
        var told: Set<String> = []
        for text in walk.texts where localizedKinds.contains(text.kind) && !keys.contains(text.text) {
            guard told.insert(text.text).inserted else { continue }
            let near = NearMiss.find(text.text, among: sequence).map { "Did you mean \"\($0)\"? " } ?? ""
            findings.append(
                Finding(
                    severity: .warning,
                    code: "string-key",
                    pointer: text.pointer,
                    message: "\"\(DocumentWalk.shown(text.text))\" is no key of order.strings, though other texts of"
                        + " \(text.kind) are; Wallet shows it as it is.",
                    fix: near + "Add the key to every order.strings, or leave it if the text is the same everywhere."
                )
            )
        }
        for (locale, table) in tables.sorted(by: { $0.key < $1.key }) {
            let missing = sequence.filter { table[$0] == nil }
            if missing.isEmpty { continue }
            let shown = missing.prefix(5).map { "\"\(DocumentWalk.shown($0))\"" }
            findings.append(
                Finding(
                    severity: .error,
                    code: "strings-keys-differ",
                    path: locale.folder + "/order.strings",
                    message: "\(missing.count) keys of other languages are missing: "
                        + shown.joined(separator: ", ") + (missing.count > 5 ? " …" : "."),
                    fix: "Give every language the same keys."
                )
            )
        }
        return findings
    }
}
