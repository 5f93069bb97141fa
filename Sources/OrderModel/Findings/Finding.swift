// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// One thing that a check has to say about a document or a package: where, what, and how to put it right.
public struct Finding: Sendable, Hashable {
    /// How bad it is. Only errors make a document invalid.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// Wallet would refuse the order, or it can't be stored.
        case error
        /// It works, but most likely not as meant.
        case warning
        /// Worth knowing.
        case note
    }

    /// What the finding is about.
    public enum Location: Sendable, Hashable {
        /// A place in a JSON document (RFC 6901).
        case pointer(JSONPointer)
        /// A file of a package or source folder.
        case path(String)

        /// Whether both are one place, code point by code point.
        public static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.pointer(let left), .pointer(let right)): left == right
            case (.path(let left), .path(let right)): left.isExactly(right)
            default: false
            }
        }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .pointer(let pointer): hasher.combine(pointer)
            case .path(let path): hasher.combine(ExactKey(path))
            }
        }
    }

    /// How bad it is.
    public var severity: Severity
    /// The kind of fault in kebab-case, to switch on.
    public var code: String
    /// Where it is.
    public var location: Location
    /// What is wrong, for people.
    public var message: String
    /// What to do instead.
    public var fix: String?
    /// Line in the text, from 1, where it is known.
    public var line: Int?
    /// Column in the line, from 1, in characters of the line, where it is known.
    public var column: Int?

    /// A finding at a place in a JSON document.
    public init(
        severity: Severity,
        code: String,
        pointer: JSONPointer,
        message: String,
        fix: String? = nil,
        line: Int? = nil,
        column: Int? = nil
    ) {
        self.severity = severity
        self.code = code
        self.location = .pointer(pointer)
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column
    }

    /// A finding about a file.
    public init(
        severity: Severity,
        code: String,
        path: String,
        message: String,
        fix: String? = nil,
        line: Int? = nil,
        column: Int? = nil
    ) {
        self.severity = severity
        self.code = code
        self.location = .path(path)
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column
    }

    /// Whether it makes the document invalid.
    public var isError: Bool { severity == .error }

    /// The place in the document, when it is one.
    public var pointer: JSONPointer? { if case .pointer(let pointer) = location { pointer } else { nil } }

    /// The file, when the finding is about one.
    public var path: String? { if case .path(let path) = location { path } else { nil } }

    /// The form that every command and route gives out:
    /// `{"severity","code","pointer"|"path","message","fix"}`, and `line` and `column` where they are known.
    public var json: JSONValue {
        var object = JSONObject()
        object["severity"] = .string(severity.rawValue)
        object["code"] = .string(code)
        switch location {
        case .pointer(let pointer): object["pointer"] = .string(pointer.description)
        case .path(let path): object["path"] = .string(path)
        }
        object["message"] = .string(message)
        object["fix"] = fix.map { .string($0) } ?? .null
        if let line { object["line"] = .number(JSONNumber(Int64(line))) }
        if let column { object["column"] = .number(JSONNumber(Int64(column))) }
        return .object(object)
    }

    /// The same finding with `prefix` put in front of its pointer: a document's findings within a larger body.
    public func nested(under prefix: JSONPointer) -> Finding {
        guard case .pointer(let pointer) = location else { return self }
        var copy = self
        copy.location = .pointer(pointer.tokens.reduce(prefix) { $0.appending($1) })
        return copy
    }
}
