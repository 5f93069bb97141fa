// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The findings of a check, up to a limit: a hostile document could make a million.
struct BoundedFindings {
    /// How many errors, and how many other findings, are listed.
    static let limit = 1_000

    private(set) var list: [Finding] = []
    // Errors have room of their own: whatever else there is, a bad document has one.
    private var errorRoom = limit
    private var otherRoom = limit

    /// Whether one more would be listed. Who asks first saves the work of wording it.
    func hasRoom(for severity: Finding.Severity) -> Bool { (severity == .error ? errorRoom : otherRoom) > 0 }

    /// Lists a finding; behind the last for which there is room stands that there are more.
    mutating func append(_ finding: Finding) {
        guard hasRoom(for: finding.severity) else { return }
        list.append(finding)
        if finding.isError { errorRoom -= 1 } else { otherRoom -= 1 }
        if hasRoom(for: finding.severity) { return }
        list.append(
            Finding(
                severity: .note,
                code: "findings-cut-off",
                pointer: .root,
                message: "Further \(finding.isError ? "errors" : "warnings and notes") are not listed.",
                fix: "Put these right first."
            )
        )
    }
}
