// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import OrderModel

extension [Finding] {
    /// The findings, of each code the first hundred, and behind them one about each code of which there are more. Those help
    /// nobody, and an order may name a file in each of thousands of line items.
    internal func capped(_ most: Int = 100) -> [Finding] {
        if self.count <= most { return self }
        // short: codes of ours.
        var counts: [String: Int] = [:]
        var listed = self.filter { finding in
            counts[finding.code, default: 0] += 1
            return counts[finding.code, default: 0] <= most
        }
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) where count > most {
            listed.append(
                Finding(
                    severity: self.first { $0.code == code }?.severity ?? .warning,
                    code: "more-findings",
                    pointer: .root,
                    message: "\(count - most) more of \(code) are not listed.",
                    fix: "Put these right first."
                )
            )
        }
        return listed
    }

    /// What there is to say of members that a body doesn't have: of the first thousand, a finding each, and one of the rest.
    /// A body may have half a million.
    internal static func unknownMembers(of body: JSONObject, known: [String], fix: String) -> [Finding] {
        func finding(_ pointer: JSONPointer, _ message: String) -> Finding {
            Finding(severity: .error, code: "unknown-member", pointer: pointer, message: message, fix: fix)
        }
        var findings: [Finding] = []
        var rest = 0
        for name in body.keys where !name.isExactly(oneOf: known) {
            if findings.count < 1_000 {
                findings.append(finding(JSONPointer(tokens: [name]), "The body has no member of this name."))
            } else {
                rest += 1
            }
        }
        if rest > 0 { findings.append(finding(.root, "The body has \(rest) more members that it may not have.")) }
        return findings
    }
}
