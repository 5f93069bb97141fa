// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// `completion`: what a shell needs to complete commands and options.
enum CompletionCommand: Command {
    static let description = CommandDescription(
        "walletorders completion",
        "Print the completion script of a shell: bash, zsh or fish.",
        options: [],
        operands: "SHELL"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name the shell: bash, zsh or fish") }
        switch arguments.operands[0] {
        case "bash": Terminal.print(self.bash)
        case "zsh": Terminal.print("#compdef walletorders\nautoload -U +X bashcompinit && bashcompinit\n" + self.bash)
        case "fish": Terminal.print(self.fish)
        default: throw UsageError("completion knows bash, zsh and fish, not \(arguments.operands[0])")
        }
    }

    /// The commands by their words, each with its options.
    private static var commands: [(words: String, summary: String, options: [CommandLineOption])] {
        Program.commands.map { words, command in
            (words.joined(separator: " "), command.description.summary, command.description.options)
        }
    }

    /// The words that may come first, each once.
    private static var firstWords: [String] {
        var seen: Set<String> = []
        return Program.commands.map { $0.words[0] }.filter { seen.insert($0).inserted }
    }

    private static var bash: String {
        var cases: [String] = []
        for word in self.firstWords {
            let seconds = Program.commands.filter { $0.words[0] == word && $0.words.count > 1 }.map { $0.words[1] }
            if !seconds.isEmpty { cases.append("        \"\(word)\") words=\"\(seconds.joined(separator: " "))\" ;;") }
        }
        for command in self.commands {
            let options = command.options.map { "--\($0.name)" }.joined(separator: " ")
            cases.append("        \"\(command.words)\"*) words=\"\(options)\" ;;")
        }
        // Options with values complete file names: most of them are files, and the rest does no harm.
        return """
            _walletorders() {
                local current="${COMP_WORDS[COMP_CWORD]}" words=""
                if [ "$COMP_CWORD" = 1 ]; then
                    COMPREPLY=($(compgen -W "\(self.firstWords.joined(separator: " "))" -- "$current"))
                    return
                fi
                local before="${COMP_WORDS[*]:1:COMP_CWORD-1}"
                case "$before" in
            \(cases.joined(separator: "\n"))
                esac
                case "$current" in
                    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
                    *) case "$words" in
                        -*|"") COMPREPLY=($(compgen -f -- "$current")) ;;
                        *) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
                    esac ;;
                esac
            }
            complete -o filenames -F _walletorders walletorders
            """
    }

    private static var fish: String {
        let begin = "complete -c walletorders -n "
        var lines = [begin + "__fish_use_subcommand -f -a " + self.quoted(self.firstWords.joined(separator: " "))]
        for (words, command) in Program.commands {
            var condition = "__fish_seen_subcommand_from \(words[0])"
            if words.count > 1 {
                let siblings = Program.commands.filter { $0.words[0] == words[0] }.compactMap(\.words.last)
                let isOpen = condition + "; and not __fish_seen_subcommand_from " + siblings.joined(separator: " ")
                let summary = self.quoted(command.description.summary)
                lines.append("\(begin)\(self.quoted(isOpen)) -f -a \(words[1]) -d \(summary)")
                condition += "; and __fish_seen_subcommand_from \(words[1])"
            }
            for option in command.description.options {
                let short = option.short.map { " -s \($0)" } ?? ""
                let name = "-l \(option.name)\(short)\(option.placeholder == nil ? "" : " -r")"
                lines.append("\(begin)\(self.quoted(condition)) \(name) -d \(self.quoted(option.summary))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
