// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel

/// Findings, for people and for programs (design 5.1).
enum Report {
    /// Prints a report.
    static func print(file: String, report: FindingReport, asJSON: Bool) {
        if asJSON {
            Terminal.print(String(decoding: report.json.serialized(), as: UTF8.self))
            return
        }
        let errors = report.findings.filter(\.isError).count
        let verdict = report.isValid ? "valid" : "not valid: \(errors) \(errors == 1 ? "error" : "errors")"
        Terminal.print("\(Terminal.printable(file)): \(verdict) (checked: \(report.checked.joined(separator: ", ")))")
        for finding in report.findings { Terminal.print("  " + self.line(finding)) }
    }

    /// Says one finding on standard error.
    static func complain(_ finding: Finding) { Terminal.complain(self.line(finding)) }

    private static func line(_ finding: Finding) -> String {
        var place = finding.pointer.map { $0.description.isEmpty ? "/" : $0.description } ?? finding.path ?? ""
        if let line = finding.line { place += " line \(line)" + (finding.column.map { ", column \($0)" } ?? "") }
        let fix = finding.fix.map { " \($0)" } ?? ""
        return Terminal.printable("\(finding.severity.rawValue) \(finding.code) at \(place): \(finding.message)\(fix)")
    }
}
