// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import ExactJSON
public import OrderModel

/// What a package holds, and everything about it that Wallet would refuse or trip over.
public struct VerificationReport: Sendable {
    /// A file in the package.
    public struct File: Sendable, Hashable {
        /// The path inside the package.
        public let path: String
        /// Its size, unpacked, in bytes.
        public let size: Int
        /// Its size inside the archive, in bytes.
        public let compressedSize: Int
        /// SHA-256 of its contents; nil when they couldn't be unpacked.
        public let digest: SHA256Digest?
    }

    /// The checks that were made, in order; a check that couldn't be made for want of its subject isn't among them.
    public internal(set) var checked: [String] = []
    /// Everything that was found.
    public internal(set) var findings: [Finding] = []
    /// The files in the order of the archive.
    public internal(set) var files: [File] = []
    /// `order.json`, when it is JSON.
    public internal(set) var order: JSONValue?
    /// The validated order, when it is right in itself.
    public internal(set) var document: OrderDocument?
    /// The certificate that signed, when it is in the package.
    public internal(set) var signer: Certificate?
    /// The certificates in the signature, in its order.
    public internal(set) var certificates: [Certificate] = []
    /// When it was signed, by its own words, in seconds since 1970.
    public internal(set) var signingTime: Int64?

    /// Whether Wallet would take the package, as far as can be told: no finding is an error.
    public var isValid: Bool { !findings.contains(where: \.isError) }

    /// The most findings of one code and severity that are kept: what is wrong a hundred times is wrong in one place of a
    /// program. Warnings never take an error's room: what is kept decides whether the package is valid.
    private static let limitPerCode = 100

    /// Names longer than this, in bytes, are cut in findings, and messages longer than four times this.
    private static let textLimit = 255

    /// Leaves out what a broken or hostile package says again and again, and cuts what it says at length.
    mutating func limitFindings() {
        // short: codes of ours.
        var counts: [Finding.Severity: [String: Int]] = [:]
        findings.removeAll { finding in
            counts[finding.severity, default: [:]][finding.code, default: 0] += 1
            return counts[finding.severity]?[finding.code] ?? 0 > Self.limitPerCode
        }
        for index in findings.indices {
            if let path = findings[index].path { findings[index].location = .path(Self.cut(path, to: Self.textLimit)) }
            let message = findings[index].message
            guard message.utf8.count > 4 * Self.textLimit else { continue }
            findings[index].message = Self.cut(message, to: 4 * Self.textLimit) + "."
        }
        for severity in [Finding.Severity.error, .warning, .note] {
            for (code, count) in (counts[severity] ?? [:]).sorted(by: { $0.key < $1.key })
            where count > Self.limitPerCode {
                let rest = count - Self.limitPerCode
                let number = rest == 1 ? "is 1 more \(severity.rawValue)" : "are \(rest) more \(severity.rawValue)s"
                findings.append(
                    Finding(
                        severity: .note,
                        code: "more-findings",
                        path: ArchiveCheck.whole,
                        message: "There \(number) of \(code).",
                        fix: "Mend the first ones, and verify again."
                    )
                )
            }
        }
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit - 3), as: UTF8.self) + "…"
    }

    /// The findings in the form that every command gives out.
    public func report(file: String) -> FindingReport {
        FindingReport(file: file, checked: checked, findings: findings)
    }
}
