// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// `package inspect`: what is in a package, whether or not it is right.
enum PackageInspectCommand: Command {
    static let description = CommandDescription(
        "walletorders package inspect",
        "Show what is in a package, or in an unpacked folder: files, signature, certificates, order without its token; "
            + "- reads standard input.",
        options: [CommandLineOption("json", "print JSON")],
        operands: "FILE"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name one package, or - for standard input") }
        let path = arguments.operands[0]
        let report = try await PackageVerifier().verify(file: path)
        guard !report.files.isEmpty else {
            for finding in report.findings where finding.isError { Report.complain(finding) }
            throw CommandFailure(.inputUnreadable, "\(path) is no package")
        }
        if arguments.has("json") {
            Terminal.print(json: Self.json(report, path))
        } else {
            for line in Self.lines(report, path) { Terminal.print(Terminal.line(line)) }
            if let order = report.order { Terminal.print(json: Self.withoutToken(order), .pretty) }
        }
    }

    /// The order without what opens it to whoever reads along: this output is pasted into reports.
    private static func withoutToken(_ order: JSONValue) -> JSONValue {
        guard case .object(var object) = order, object["authenticationToken"] != nil else { return order }
        object["authenticationToken"] = "<redacted>"
        return .object(object)
    }

    // MARK: For people

    private static func lines(_ report: VerificationReport, _ path: String) -> [String] {
        var lines = [
            "\(path): \(report.files.count) files, \(report.files.reduce(0) { $0 + $1.size }) bytes unpacked", "",
        ]
        lines.append("      size    packed  sha256            path")
        for file in report.files {
            let digest = file.digest.map { String($0.hex.prefix(16)) } ?? "unreadable      "
            lines.append("\(right(file.size)) \(right(file.compressedSize))  \(digest)  \(file.path)")
        }
        lines.append("")
        lines.append("signed   " + (report.signingTime.map { WallTime(seconds: $0).rfc3339 } ?? "at no readable time"))
        for certificate in report.certificates {
            let role = certificate == report.signer ? "signer   " : "embedded "
            lines.append(role + certificate.subjectDescription)
            lines.append("         issued by \(certificate.issuerDescription)")
            lines.append(
                "         valid \(WallTime(seconds: certificate.notBefore).rfc3339) to "
                    + "\(WallTime(seconds: certificate.notAfter).rfc3339), serial number \(certificate.serialHex)"
            )
        }
        if report.certificates.isEmpty { lines.append("signer   no certificates") }
        lines.append("")
        return lines
    }

    private static func right(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: " ", count: max(0, 10 - text.count)) + text
    }

    // MARK: For programs

    private static func json(_ report: VerificationReport, _ path: String) -> JSONValue {
        [
            "file": .string(path),
            "files": .array(
                report.files.map { file in
                    [
                        "path": .string(file.path), "size": .number(JSONNumber(Int64(file.size))),
                        "compressedSize": .number(JSONNumber(Int64(file.compressedSize))),
                        "sha256": file.digest.map { .string($0.hex) } ?? .null,
                    ]
                }
            ),
            "signingTime": report.signingTime.map { .string(WallTime(seconds: $0).rfc3339) } ?? .null,
            "signer": report.signer.map(json) ?? .null,
            "certificates": .array(report.certificates.map(json)),
            "order": report.order.map(withoutToken) ?? .null,
        ]
    }

    private static func json(_ certificate: Certificate) -> JSONValue {
        [
            "subject": .string(certificate.subjectDescription), "issuer": .string(certificate.issuerDescription),
            "serialNumber": .string(certificate.serialHex),
            "notBefore": .string(WallTime(seconds: certificate.notBefore).rfc3339),
            "notAfter": .string(WallTime(seconds: certificate.notAfter).rfc3339),
        ]
    }
}
