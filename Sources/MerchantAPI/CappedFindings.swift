// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import OrderModel

extension [Finding] {
    /// The findings, of each code the first hundred, and behind them one about each code of which there are more. Those help
    /// nobody, and an order may name a file in each of thousands of line items.
    internal func capped(_ most: Int = 100) -> [Finding] {
        if self.count <= most { return self }
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
}
