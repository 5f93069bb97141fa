// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// An order, or a value for one of its fields, is not as Wallet needs it: everything that was found.
public struct InvalidOrderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Every finding, at least one of them an error; their pointers say where. A value that stands for itself has the
    /// root pointer.
    public let findings: [Finding]

    /// An error that reports findings.
    public init(findings: [Finding]) { self.findings = findings }

    /// The errors, one a line: pointer, what is wrong, what to do instead.
    public var description: String {
        findings.filter(\.isError).map { finding in
            let place =
                finding.pointer.map { $0.tokens.isEmpty ? "" : "\($0): " } ?? finding.path.map { "\($0): " } ?? ""
            return place + finding.message + (finding.fix.map { " " + $0 } ?? "")
        }.joined(separator: "\n")
    }
}

extension FieldValue {
    /// Reads a value that stands for itself, by the same rules as in a document.
    static func checked(_ value: JSONValue, as kind: FieldKind) throws(InvalidOrderError) -> Self {
        var walk = DocumentWalk(options: ValidationOptions())
        walk.check(value, kind)
        if walk.hasErrors { throw InvalidOrderError(findings: walk.findings) }
        return try Self(reading: value)
    }

    /// Reads a value that validation should have passed.
    ///
    /// What validation passes can be read: tests try some thousand valid documents, made from the tables and out of damaged
    /// ones. A document that was stored long ago may have passed other rules.
    init(reading value: JSONValue) throws(InvalidOrderError) {
        do throws(FieldFault) {
            try self.init(field: value)
        } catch {
            throw InvalidOrderError(findings: [
                Finding(
                    severity: .error,
                    code: "wrong-type",
                    pointer: error.pointer,
                    message: "The value has no typed form.",
                    fix: "Validate the document: it says what the value has to be."
                )
            ])
        }
    }
}
