// SPDX-License-Identifier: Apache-2.0

/// Why a file is no strings file, and where.
public struct StringsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are no text in UTF-8 or UTF-16.
        case encoding
        /// A text or comment is not closed before the end of the file.
        case unterminated
        /// Something stands where a key, `=`, a text or `;` belongs.
        case syntax
        /// The same key twice. The file is read all the same: see ``StringsTable/repeated``.
        case duplicateKey = "duplicate-key"
        /// More bytes or entries than are read.
        case limit
    }

    /// What is wrong.
    public let code: Code
    /// Line of the fault, from 1. For a text that is not closed it is the line on which the text begins.
    public let line: Int
    /// What is wrong, for people.
    public let message: String

    init(_ code: Code, line: Int, _ message: String) {
        self.code = code
        self.line = line
        self.message = message
    }

    /// What to do about it.
    var fix: String {
        switch code {
        case .encoding: "Save the file as UTF-8, or as UTF-16 with a byte order mark."
        case .unterminated: "Close it: texts end with \", comments with */; a quote inside a text is written \\\"."
        case .syntax: "Write \"key\" = \"text\"; one a line, with quotes inside texts as \\\"."
        case .duplicateKey: "Keep one of the two; Wallet reads only one, most likely the last."
        case .limit: "Keep only the texts of this order."
        }
    }

    /// Line and message.
    public var description: String { "line \(line): \(message)" }
}

extension Finding {
    /// A strings file that can't be read, or (a warning) one with a key twice.
    public init(strings error: StringsError, path: String) {
        self.init(
            severity: error.code == .duplicateKey ? .warning : .error,
            code: "strings-" + error.code.rawValue,
            path: path,
            message: error.message + ".",
            fix: error.fix,
            line: error.line
        )
    }
}
