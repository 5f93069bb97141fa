// SPDX-License-Identifier: Apache-2.0

/// Why a text is no identifier of the kind that was asked for, and what to send instead.
///
/// The message never repeats the text: push tokens, device identifiers and authentication tokens are secrets.
public struct IdentifierError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public enum Code: String, Sendable, Hashable {
        /// The text has no characters.
        case empty
        /// The text is longer than the identifier may be.
        case tooLong = "too-long"
        /// The text is shorter than the identifier must be.
        case tooShort = "too-short"
        /// The text holds a character that the identifier may not hold.
        case badCharacter = "bad-character"
        /// The characters are right but their arrangement is not (labels of a reverse-DNS name, parts of a path).
        case badForm = "bad-form"
    }

    /// What is wrong.
    public let code: Code
    /// The kind of identifier, in words: "order identifier".
    public let kind: String
    /// What is wrong, for people.
    public let message: String
    /// What to send instead.
    public let fix: String

    init(_ code: Code, _ kind: String, _ message: String, fix: String) {
        self.code = code
        self.kind = kind
        self.message = message
        self.fix = fix
    }

    /// Message and advice in one line.
    public var description: String { "\(message). \(fix)" }
}
