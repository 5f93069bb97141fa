// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// `package build`: signs a source folder.
enum PackageBuildCommand: Command {
    static let description = CommandDescription(
        "walletorders package build",
        "Sign a source folder: order.json, images and *.lproj folders.",
        options: [
            CommandLineOption("identity", value: "FILE", "PKCS#12, PEM or DER file of the Order Type ID certificate"),
            CommandLineOption("key", value: "PEM", "its private key, when the identity file has none"),
            CommandLineOption(
                "intermediate",
                value: "PEM",
                "the issuing certificate; may be repeated; Apple's own are known"
            ),
            CommandLineOption("passphrase-file", value: "FILE", "file with the passphrase of identity or key"),
            CommandLineOption("output", value: "OUT.order", short: "o", "the package to write; - for standard output"),
            CommandLineOption("json", "print the report as JSON"),
        ],
        operands: "DIR"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name one source folder") }
        guard let identityFile = arguments["identity"] else {
            throw UsageError("--identity names the signing certificate")
        }
        guard let output = arguments["output"] else {
            throw UsageError("--output names the package to write: -o OUT.order")
        }
        let identity: SigningIdentity
        do {
            identity = try await OrderTypeLoading.identity(
                file: identityFile,
                key: arguments["key"],
                intermediates: arguments.all("intermediate"),
                passphraseFile: arguments["passphrase-file"]
            )
        } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
        let source = try await SourceFolder.read(arguments.operands[0])
        let (document, findings) = source.check()
        for finding in findings { Report.complain(finding) }
        guard let document, !findings.contains(where: \.isError) else {
            throw CommandFailure(.checkFailed, "nothing was signed")
        }
        for path in source.leftOut { Terminal.complain("left out: \(Terminal.printable(path))") }
        let package: OrderPackage
        do {
            package = try PackageBuilder(identity: identity).build(
                order: document.packageForm(),
                files: source.packageFiles(),
                signingTime: WallTime.now().seconds
            )
        } catch {
            throw CommandFailure(.checkFailed, "\(error)")
        }
        if output == "-" {
            try Files.writeStandardOutput(package.bytes)
        } else {
            try await runBlocking { try Files.write(package.bytes, to: output) }
            Terminal.print("\(output): \(package.byteCount) bytes, signed for \(identity.orderTypeIdentifier.text)")
        }
    }
}

/// `package verify`: everything that would make Wallet refuse a package.
enum PackageVerifyCommand: Command {
    static let description = CommandDescription(
        "walletorders package verify",
        "Explain everything that would make Wallet refuse a package.",
        options: [
            CommandLineOption("trust", value: "ROOT.pem", "a root beside Apple's; may be repeated"),
            CommandLineOption(
                "intermediate",
                value: "PEM",
                "an issuing certificate that the package lacks; may be repeated"
            ),
            CommandLineOption(
                "at",
                value: "TIME",
                "judge validity at this time (RFC 3339), not at the signing time as Wallet does"
            ),
            CommandLineOption("json", "print JSON, one object a line"),
        ],
        operands: "FILE…"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard !arguments.operands.isEmpty else { throw UsageError("name the packages to verify") }
        var roots: [Certificate] = []
        for path in arguments.all("trust") { roots += try await OrderTypeLoading.certificates(path) }
        var issuers: [Certificate] = []
        for path in arguments.all("intermediate") {
            issuers += try await OrderTypeLoading.certificates(path)
        }
        var at: Int64?
        if let text = arguments["at"] {
            guard let date = try? OrderDate(parsing: text) else {
                throw UsageError("--at takes a time such as 2026-01-02T03:04:05Z, not \(text)")
            }
            at = date.seconds
        }
        var isValid = true
        for path in arguments.operands {
            let bytes = try await OrderTypeLoading.read(path)
            let report = PackageVerifier(trust: roots, intermediates: issuers, at: at).verify(bytes)
            isValid = isValid && report.isValid
            Report.print(file: path, report: report.report(file: path), asJSON: arguments.has("json"))
        }
        if !isValid { throw CommandFailure(.checkFailed, "") }
    }
}

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
