// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// What the checks of one file came to: `{"file","valid","checked":[…],"findings":[…]}`.
public struct FindingReport: Sendable, Hashable {
    /// The file, or what stands in its place ("-" for standard input).
    public var file: String
    /// The checks that were made, by name, so that a reader sees what an empty list of findings means.
    public var checked: [String]
    /// Everything that was found, check by check.
    public var findings: [Finding]

    /// Puts a report together.
    public init(file: String, checked: [String], findings: [Finding]) {
        self.file = file
        self.checked = checked
        self.findings = findings
    }

    /// False only with errors.
    public var isValid: Bool { !findings.contains { $0.isError } }

    /// The report as one JSON object.
    public var json: JSONValue {
        var object = JSONObject()
        object["file"] = .string(file)
        object["valid"] = .bool(isValid)
        object["checked"] = .array(checked.map { .string($0) })
        object["findings"] = .array(findings.map(\.json))
        return .object(object)
    }
}
