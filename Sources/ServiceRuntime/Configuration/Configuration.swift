// SPDX-License-Identifier: Apache-2.0

/// One setting: its key, what it is for, and what holds when nobody says otherwise.
package struct Setting: Sendable {
    /// The key in the file, words in camel case and dots: `device.listen`, `dataDir`. A `*` stands for one name that
    /// the operator chooses, which may itself contain dots: `orderTypes.*.identity`.
    package let key: String
    /// The default's text; nil when there is none.
    package let defaultValue: String?
    /// What it is for, its unit and form.
    package let summary: String
    /// Whether its value is redacted where settings are shown.
    package let isSecret: Bool
    /// Whether it may be a flag: everyone on the machine reads a process's arguments.
    package let isFlag: Bool
    /// Whether its value is the path of a file or folder; a relative one in the file of settings goes from that file's folder.
    package let isPath: Bool

    /// Declares a setting.
    package init(
        _ key: String,
        default defaultValue: String? = nil,
        secret: Bool = false,
        flag: Bool = true,
        path: Bool = false,
        _ summary: String
    ) {
        self.key = key
        self.defaultValue = defaultValue
        self.summary = summary
        self.isSecret = secret
        self.isFlag = flag
        self.isPath = path
    }

    /// The words of the key: `dataDir` and `data.dir` both are `data`, `dir`.
    private var words: [String] {
        var words: [String] = [""]
        var isInsideCapitals = false
        for character in self.key {
            if character == "." {
                words.append("")
            } else {
                // "URL" is one word: a new one begins at the first capital only.
                if character.isUppercase, !isInsideCapitals { words.append("") }
                words[words.count - 1] += character.lowercased()
            }
            isInsideCapitals = character.isUppercase || character == "."
        }
        return words
    }

    /// The flag's name without the dashes: `data-dir`.
    package var flag: String { self.words.joined(separator: "-") }
    /// The environment variable: `WALLETORDERS_DATA_DIR`.
    package var variable: String { "WALLETORDERS_" + self.words.joined(separator: "_").uppercased() }
    /// Whether the key has a part that the operator chooses; such settings come from the file only.
    package var isPattern: Bool { self.key.contains("*") }

    /// The part that stands for `*` when a key matches this pattern.
    package func wildcard(in key: String) -> String? {
        guard let star = self.key.firstIndex(of: "*") else { return key == self.key ? "" : nil }
        let prefix = self.key[..<star]
        let suffix = self.key[self.key.index(after: star)...]
        guard key.hasPrefix(prefix), key.hasSuffix(suffix), key.utf8.count > prefix.utf8.count + suffix.utf8.count
        else { return nil }
        return String(key.dropFirst(prefix.count).dropLast(suffix.count))
    }
}

extension Setting {
    /// An unknown key read as one of this setting's: before and behind the name that the operator chose as many words as here.
    /// nil when it has too few.
    internal func reading(of key: String) -> Suggestion.Reading? {
        guard let star = self.key.firstIndex(of: "*") else { return .init(parts: [(key, self.key)], word: self.key) }
        let (prefix, suffix) = (self.key[..<star], self.key[self.key.index(after: star)...])
        let words = key.split(separator: ".", omittingEmptySubsequences: false)
        let (before, behind) = (prefix.count { $0 == "." }, suffix.count { $0 == "." })
        guard words.count > before + behind else { return nil }
        let name = words[before..<words.count - behind].joined(separator: ".")
        return .init(
            parts: [
                (words.prefix(before).joined(separator: "."), String(prefix.dropLast())),
                (words.suffix(behind).joined(separator: "."), String(suffix.dropFirst())),
            ],
            word: prefix + name + suffix
        )
    }
}

/// What is wrong with the configuration, all of it. Exit code 78.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// One sentence a fault: the key, where it came from, what to write instead.
    package let faults: [String]

    /// Makes an error of its faults.
    package init(_ faults: [String]) {
        self.faults = faults
    }

    package var description: String { self.faults.joined(separator: "\n") }
}

/// Settings from flags, environment, file and defaults, in that order of precedence, each with its source.
package struct Configuration: Sendable {
    /// Where a value came from.
    package enum Source: String, Sendable {
        case flag = "flag"
        case environment = "environment"
        case file = "file"
        case defaultValue = "default"
    }

    /// A value and its source.
    package struct Entry: Sendable, CustomReflectable {
        package let key: String
        package let text: String
        package let source: Source
        package let isSecret: Bool
        /// The value, or `<redacted>`.
        package var shown: String { self.isSecret ? "<redacted>" : self.text }
        /// Without a secret's value, whoever prints it.
        package var customMirror: Mirror {
            Mirror(self, children: ["key": self.key, "shown": self.shown, "source": self.source])
        }
    }

    /// All values in force, by key.
    package private(set) var entries: [String: Entry] = [:]
    private var faults: [String] = []

    /// Lays the sources over each other. Unknown keys and variables are faults, with the nearest known one.
    ///
    /// - Parameters:
    ///   - flags: by the flags' names, as the command line gave them; others than the settings' own are left alone.
    ///   - environment: the whole environment; only `WALLETORDERS_*` is looked at.
    ///   - file: keys and values of the file, flattened with dots.
    package init(
        settings: [Setting],
        flags: [String: String],
        environment: [String: String],
        file: [(key: String, text: String)]
    ) {
        for setting in settings where setting.defaultValue != nil && !setting.isPattern {
            self.set(setting.key, setting.defaultValue ?? "", .defaultValue, setting)
        }
        for (key, text) in file {
            if let setting = settings.first(where: { $0.wildcard(in: key) != nil }) {
                self.set(key, text, .file, setting)
            } else {
                let hint = Suggestion.nearest(among: settings.compactMap { $0.reading(of: key) })
                self.faults.append("unknown key \(key) in the file" + (hint.map { "; did you mean \($0)?" } ?? ""))
            }
        }
        let variables = settings.filter { !$0.isPattern }
        let prefix = "WALLETORDERS_"
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            if let setting = variables.first(where: { $0.variable == name }) {
                // Set to nothing is how scripts and compose files unset one.
                if !text.isEmpty { self.set(setting.key, text, .environment, setting) }
            } else {
                let hint = Suggestion.nearest(
                    to: String(name.dropFirst(prefix.count)),
                    among: variables.map { String($0.variable.dropFirst(prefix.count)) }
                )
                self.faults.append("unknown variable \(name)" + (hint.map { "; did you mean \(prefix)\($0)?" } ?? ""))
            }
        }
        for setting in variables where setting.isFlag {
            if let text = flags[setting.flag] { self.set(setting.key, text, .flag, setting) }
        }
    }

    private mutating func set(_ key: String, _ text: String, _ source: Source, _ setting: Setting) {
        self.entries[key] = Entry(key: key, text: text, source: source, isSecret: setting.isSecret)
        if text.isEmpty { self.fault(key, "is empty; leave it out for the default") }
    }

    /// The text of a key, or nil when it has neither value nor default.
    package func text(_ key: String) -> String? { self.entries[key]?.text }

    /// The names that the operator chose for the `*` of keys with this prefix, sorted.
    package func names(under prefix: String, settings: [Setting]) -> [String] {
        var names: Set<String> = []
        for key in self.entries.keys {
            for setting in settings where setting.isPattern && setting.key.hasPrefix(prefix) {
                if let name = setting.wildcard(in: key) { names.insert(name) }
            }
        }
        return names.sorted()
    }

    /// The same settings, with the defaults of a pattern's settings put in for one of its names.
    package func scoped(to name: String, of prefix: String, settings: [Setting]) -> Configuration {
        var scoped = self
        for setting in settings where setting.key.hasPrefix(prefix) {
            guard let text = setting.defaultValue, let star = setting.key.firstIndex(of: "*") else { continue }
            let key = setting.key[..<star] + name + setting.key[setting.key.index(after: star)...]
            if scoped.entries[String(key)] == nil { scoped.set(String(key), text, .defaultValue, setting) }
        }
        return scoped
    }

    /// Notes a fault of a value.
    package mutating func fault(_ key: String, _ complaint: String) {
        let source = self.entries[key].map { " (\($0.source.rawValue))" } ?? ""
        self.faults.append("\(key)\(source): \(complaint)")
    }

    /// A whole number within bounds; notes a fault otherwise and gives the lower bound.
    package mutating func integer(_ key: String, _ range: ClosedRange<Int>) -> Int {
        guard let text = self.text(key) else { return range.lowerBound }
        guard let number = Int(text), range.contains(number) else {
            self.fault(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
            return range.lowerBound
        }
        return number
    }

    /// `true` or `false`; notes a fault otherwise.
    package mutating func boolean(_ key: String) -> Bool {
        switch self.text(key) {
        case "true": return true
        case "false", nil: return false
        case let text?:
            self.fault(key, "must be true or false, not \"\(text)\"")
            return false
        }
    }

    /// A duration such as `500ms`, `30s`, `5m`, `72h`, `30d`; notes a fault otherwise.
    package mutating func duration(_ key: String) -> Duration {
        guard let text = self.text(key) else { return .zero }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit: Int? =
            switch text.dropFirst(digits.count) {
            case "ms": 1
            case "s": 1_000
            case "m": 60_000
            case "h": 3_600_000
            case "d": 86_400_000
            default: nil
            }
        guard let unit, digits.count <= 9, let count = Int(digits) else {
            self.fault(key, "must be a duration such as 500ms, 30s, 5m, 72h or 30d, not \"\(text)\"")
            return .zero
        }
        return .milliseconds(count * unit)
    }

    /// One of some words; notes a fault otherwise and gives the first.
    package mutating func choice(_ key: String, _ words: [String]) -> String {
        guard let text = self.text(key) else { return words[0] }
        guard words.contains(text) else {
            self.fault(key, "must be \(words.joined(separator: ", ")), not \"\(text)\"")
            return words[0]
        }
        return text
    }

    /// Ends the reading.
    ///
    /// - Throws: `ConfigurationError` with all faults at once.
    package func check() throws(ConfigurationError) {
        if !self.faults.isEmpty { throw ConfigurationError(self.faults) }
    }
}
