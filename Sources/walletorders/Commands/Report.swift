// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel

/// Findings, for people and for programs (design 5.1).
enum Report {
    /// Prints a report.
    static func print(file: String, report: FindingReport, asJSON: Bool) {
        if asJSON {
            Terminal.print(json: report.json)
            return
        }
        let verdict = report.isValid ? "valid" : "not valid"
        let counts = self.counts(report.findings)
        Terminal.print("\(Terminal.line(file)): \(verdict)" + (counts.isEmpty ? "" : ": \(counts)"))
        Terminal.print("  checked: \(report.checked.joined(separator: ", "))")
        // What keeps the order from being shown comes first.
        for severity in Finding.Severity.allCases {
            for finding in report.findings where finding.severity == severity {
                Terminal.print("\n  \(severity.rawValue) \(finding.code) at \(self.place(finding))")
                Terminal.print("    \(Terminal.line(finding.message))")
                if let fix = finding.fix { Terminal.print("    Fix: \(Terminal.line(fix))") }
            }
        }
    }

    /// Whether the text was no JSON, or too large: what it says was not looked at then.
    static func isUnread(_ findings: [Finding]) -> Bool {
        ["json-syntax", "order-too-large"].contains(findings.first?.code)
    }

    /// "2 errors, 1 warning".
    private static func counts(_ findings: [Finding]) -> String {
        Finding.Severity.allCases.compactMap { severity in
            let count = findings.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)" + (count == 1 ? "" : "s")
        }.joined(separator: ", ")
    }

    /// Says one finding on standard error.
    static func complain(_ finding: Finding) { Terminal.complain(self.line(finding)) }

    private static func line(_ finding: Finding) -> String {
        let fix = finding.fix.map { " \($0)" } ?? ""
        return "\(finding.severity.rawValue) \(finding.code) at \(self.place(finding)): "
            + Terminal.line(finding.message + fix)
    }

    private static func place(_ finding: Finding) -> String {
        var place = finding.path ?? ""
        if place.isExactly(".") { place = "the whole package" }
        if let pointer = finding.pointer { place = pointer.description.isEmpty ? "/" : pointer.description }
        if let line = finding.line { place += " line \(line)" + (finding.column.map { ", column \($0)" } ?? "") }
        return Terminal.line(place)
    }
}
