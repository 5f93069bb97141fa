// SPDX-License-Identifier: Apache-2.0

/// One way in which a value breaks a schema.
///
/// Messages say what to write instead. They quote the schema and the names of members, never other parts of the
/// value.
public struct JSONSchemaFault: Sendable, Hashable {
    /// Where in the value. A missing member has the place it should be at; an unknown one its own.
    public let instance: JSONPointer
    /// The keyword that is broken, such as `required`.
    public let keyword: String
    /// Where the keyword stands: the schema's URI, `#`, and a JSON pointer.
    public let schemaLocation: String
    /// What to write instead.
    public let message: String
    /// The keyword's figures for programs, such as `limit`, `allowed`, `expected`, `member`, `format` or `pattern`.
    public let details: JSONObject
    /// For `anyOf` and `oneOf`: why each alternative does not fit.
    public let causes: [JSONSchemaFault]

    /// Whether both say the same of the same place, code point by code point.
    public static func == (left: Self, right: Self) -> Bool {
        left.instance == right.instance && ExactText.equal(left.keyword, right.keyword)
            && ExactText.equal(left.schemaLocation, right.schemaLocation)
            && ExactText.equal(left.message, right.message) && left.details == right.details
            && left.causes == right.causes
    }

    /// Hashes the places and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(instance)
        ExactText.hash(schemaLocation, into: &hasher)
        ExactText.hash(message, into: &hasher)
    }
}

/// Why a schema cannot be used.
public struct JSONSchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable, Hashable {
        /// A keyword's value has the wrong form.
        case malformedKeyword = "malformed-keyword"
        /// A regular expression that cannot be taken.
        case badPattern = "bad-pattern"
        /// A reference to a schema that was not given, or to a place that is not there.
        case unresolvedReference = "unresolved-reference"
        /// Written for another draft than 2020-12.
        case unsupportedDialect = "unsupported-dialect"
    }

    /// The kind of fault, to switch on.
    public let code: Code
    /// Where: the schema's URI, `#`, and a JSON pointer.
    public let location: String
    /// What is wrong and what to write instead.
    public let message: String

    /// Whether both say the same of the same place, code point by code point.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && ExactText.equal(left.location, right.location)
            && ExactText.equal(left.message, right.message)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        ExactText.hash(location, into: &hasher)
        ExactText.hash(message, into: &hasher)
    }

    /// `location: message`.
    public var description: String { "\(location): \(message)" }
}
