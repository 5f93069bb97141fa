// SPDX-License-Identifier: Apache-2.0
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
