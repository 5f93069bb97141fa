// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime

/// What one check of `doctor` found.
struct Diagnosis: Sendable {
    /// What was looked at: `database`, `order.com.example.shop: certificate`.
    let subject: String
    /// What was seen.
    let message: String
    /// What to do about it; nil when all is well.
    let fix: String?

    var isGood: Bool { self.fix == nil }

    static func good(_ subject: String, _ message: String) -> Diagnosis {
        Diagnosis(subject: subject, message: message, fix: nil)
    }

    static func bad(_ subject: String, _ message: String, fix: String) -> Diagnosis {
        Diagnosis(subject: subject, message: message, fix: fix)
    }

    /// What is wrong with a file that holds a secret, which is nobody else's to read; nil when nothing is.
    static func ofSecret(_ path: String, subject: String) -> Diagnosis? {
        guard let mode = Files.permissions(ofFile: path), mode & 0o007 != 0 else { return nil }
        return .bad(
            subject,
            "every user of this machine may read it (mode \(String(mode & 0o777, radix: 8)))",
            fix: "chmod o= \(path)"
        )
    }

    /// For people: a line, and one more with the fix.
    var text: String {
        let line = "\(self.isGood ? "✓" : "✗") \(self.subject): \(self.message)"
        return Terminal.line(line) + (self.fix.map { "\n    → " + Terminal.line($0) } ?? "")
    }

    var json: JSONValue {
        var object: JSONObject = [
            "check": .string(self.subject), "ok": .bool(self.isGood), "message": .string(self.message),
        ]
        if let fix { object["fix"] = .string(fix) }
        return .object(object)
    }
}
