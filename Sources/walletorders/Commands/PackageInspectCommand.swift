// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// `package inspect`: what is in a package.
enum PackageInspectCommand: Command {
    static let description = CommandDescription(
        "walletorders package inspect",
        "Show what is in a package.",
        options: [CommandLineOption("json", "print JSON")],
        operands: "FILE"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name one package") }
        let bytes = try await OrderTypeLoading.read(arguments.operands[0])
        let report = PackageVerifier(trust: []).verify(bytes)
        if report.files.isEmpty {
            for finding in report.findings where finding.isError { Report.complain(finding) }
            throw CommandFailure(.inputUnreadable, "\(arguments.operands[0]) is no package")
        }
        if arguments.has("json") {
            Terminal.print(String(decoding: Self.contents(report).serialized(), as: UTF8.self))
            return
        }
        for file in report.files { Terminal.print("\(file.size)\t\(Terminal.printable(file.path))") }
        if let signer = report.signer { Terminal.print("signed by \(signer.subjectDescription)") }
        if let order = report.order { Terminal.print(String(decoding: order.serialized(.pretty), as: UTF8.self)) }
    }

    private static func contents(_ report: VerificationReport) -> JSONValue {
        [
            "files": .array(
                report.files.map { file in
                    [
                        "path": .string(file.path), "size": .number(JSONNumber(Int64(file.size))),
                        "sha256": file.digest.map { .string($0.hex) } ?? .null,
                    ]
                }
            ),
            "signer": report.signer.map { .string($0.subjectDescription) } ?? .null,
            "signingTime": report.signingTime.map { .string(WallTime(seconds: $0).rfc3339) } ?? .null,
            "order": report.order ?? .null,
        ]
    }
}
