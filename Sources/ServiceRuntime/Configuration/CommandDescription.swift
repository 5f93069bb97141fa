// SPDX-License-Identifier: Apache-2.0

/// A wrong call: what is wrong, and how the right one looks. Exit code 64.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and what to write instead.
    package let message: String
    package var description: String { self.message }

    /// Makes an error of its message.
    package init(_ message: String) {
        self.message = message
    }
}

/// One `--option` of a command.
package struct CommandLineOption: Sendable {
    /// The name without the dashes.
    package let name: String
    /// What stands for the value in the help, for example `FILE`; nil for a switch without a value.
    package let placeholder: String?
    /// What it is for.
    package let summary: String
    /// The one-letter form, without the dash.
    package let short: Character?
    /// Whether it may be given again: all values count, or the last, as the command says. Otherwise a second one is refused.
    package let isRepeatable: Bool

    /// Declares an option.
    package init(
        _ name: String,
        value placeholder: String? = nil,
        short: Character? = nil,
        repeatable isRepeatable: Bool = false,
        _ summary: String
    ) {
        self.name = name
        self.isRepeatable = isRepeatable
        self.placeholder = placeholder
        self.summary = summary
        self.short = short
    }
}

/// A command's options and operands, as declared and as given.
package struct CommandDescription: Sendable {
    /// The words of the command, for example `walletorders run`.
    package let command: String
    /// One sentence that says what it does.
    package let summary: String
    /// Its options.
    package let options: [CommandLineOption]
    /// How its operands are shown, for example `FILE…`; empty when it takes none.
    package let operands: String

    /// Declares a command.
    package init(_ command: String, _ summary: String, options: [CommandLineOption], operands: String = "") {
        self.command = command
        self.summary = summary
        self.options =
            options + [
                CommandLineOption("help", short: "h", "print this help"),
                CommandLineOption("version", "print the program's version"),
            ]
        self.operands = operands
    }

    /// What was given.
    package struct Arguments: Sendable {
        /// The values of each option, in order; a switch has one empty value each time it was given.
        package var values: [String: [String]] = [:]
        /// The operands, in order.
        package var operands: [String] = []

        /// The last value of an option.
        package subscript(_ name: String) -> String? { self.values[name]?.last }
        /// All values of an option.
        package func all(_ name: String) -> [String] { self.values[name] ?? [] }
        /// Whether a switch was given.
        package func has(_ name: String) -> Bool { self.values[name] != nil }
    }

    /// Reads arguments: `--name value`, `--name=value`, `-n value`, switches, operands; `--` ends the options.
    ///
    /// - Throws: `UsageError` that names the argument and, for a misspelt one, the nearest known.
    package func parse(_ arguments: [String]) throws(UsageError) -> Arguments {
        var parsed = Arguments()
        var rest = arguments[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if optionsEnded || word == "-" || !word.hasPrefix("-") {
                if self.operands.isEmpty {
                    throw UsageError(
                        "\(self.command) takes no operand, but got \"\(word)\"; see \(self.command) --help"
                    )
                }
                parsed.operands.append(word)
            } else if word == "--" {
                optionsEnded = true
            } else {
                let (option, inlineValue) = try self.option(of: word)
                if option.placeholder != nil, !option.isRepeatable, parsed.values[option.name] != nil {
                    throw UsageError("--\(option.name) is there twice: give it once")
                }
                if option.placeholder == nil {
                    if inlineValue != nil { throw UsageError("--\(option.name) takes no value") }
                    parsed.values[option.name, default: []].append("")
                } else if let inlineValue {
                    parsed.values[option.name, default: []].append(inlineValue)
                } else if let value = rest.first, !value.hasPrefix("--") {
                    // What looks like the next option is one: a value like that is written --name=--value.
                    rest.removeFirst()
                    parsed.values[option.name, default: []].append(value)
                } else {
                    throw UsageError("--\(option.name) needs a value: --\(option.name) \(option.placeholder ?? "")")
                }
            }
        }
        return parsed
    }

    private func option(of word: String) throws(UsageError) -> (CommandLineOption, String?) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let inlineValue = parts.count == 2 ? String(parts[1]) : nil
        let name = String(parts[0])
        let found = self.options.first { option in
            name == "--" + option.name || (option.short.map { name == "-\($0)" } ?? false)
        }
        if let found { return (found, inlineValue) }
        let hint = Suggestion.nearest(to: String(name.drop { $0 == "-" }), among: self.options.map(\.name))
        throw UsageError(
            "unknown option \(name)" + (hint.map { "; did you mean --\($0)?" } ?? "; see \(self.command) --help")
        )
    }

    /// The text of `--help`.
    package var help: String {
        var text = "\(self.summary)\n\nUsage: \(self.command) [options]"
        text += self.operands.isEmpty ? "\n" : " \(self.operands)\n"
        let rows = self.options.map { option -> (String, String) in
            let short = option.short.map { "-\($0), " } ?? ""
            return ("\(short)--\(option.name)" + (option.placeholder.map { " \($0)" } ?? ""), option.summary)
        }
        let width = rows.map(\.0.count).max() ?? 0
        text += "\nOptions:\n"
        for (name, summary) in rows {
            text += "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(summary)\n"
        }
        return text
    }
}
