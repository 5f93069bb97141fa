// SPDX-License-Identifier: Apache-2.0

import OrderModel

/// Findings about files, while a check gathers them. Each says what to do instead.
struct FindingList {
    private(set) var findings: [Finding] = []

    mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ path: String,
        _ message: String,
        fix: String
    ) {
        findings.append(Finding(severity: severity, code: code, path: path, message: message, fix: fix))
    }

    mutating func error(_ code: String, _ path: String, _ message: String, fix: String) {
        add(.error, code, path, message, fix: fix)
    }

    mutating func warning(_ code: String, _ path: String, _ message: String, fix: String) {
        add(.warning, code, path, message, fix: fix)
    }

    mutating func note(_ code: String, _ path: String, _ message: String, fix: String) {
        add(.note, code, path, message, fix: fix)
    }

    mutating func append(_ finding: Finding) {
        findings.append(finding)
    }
}
