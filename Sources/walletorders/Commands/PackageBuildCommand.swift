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
            CommandLineOption(
                "identity",
                value: "FILE",
                "PKCS#12, PEM or DER file of the Order Type ID certificate, or a folder of them"
            ),
            CommandLineOption("key", value: "PEM", "its private key, when the identity file has none"),
            CommandLineOption(
                "intermediate",
                value: "FILE",
                repeatable: true,
                "the issuing certificate, PEM or DER; may be repeated; Apple's own are known"
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
        if Files.isDirectory(identityFile), ["key", "intermediate", "passphrase-file"].contains(where: arguments.has) {
            throw UsageError("--identity names a folder, in which keys, intermediates and passphrases are found")
        }
        let isJSON = arguments.has("json")
        if isJSON, output == "-" { throw UsageError("--json and -o - both want standard output; write to a file") }
        let folder = arguments.operands[0]
        if Files.areSame(output, folder + "/order.json") {
            throw UsageError("--output names the folder's own order.json; choose another file")
        }
        let source = try await SourceFolder.read(folder, output: output)
        let (document, findings) = source.check()
        var report = FindingReport(file: folder, checked: ["json", "order", "files", "strings"], findings: findings)
        guard let document, report.isValid else {
            self.show(report, source, nil, asJSON: isJSON)
            throw CommandFailure(.checkFailed, "nothing was signed")
        }
        let identity: SigningIdentity
        do {
            identity = try await self.identity(
                identityFile,
                for: document.orderTypeIdentifier,
                arguments,
                now: WallTime.now().seconds
            )
        } catch let failure as CommandFailure {
            // What was found out about the folder is told all the same, and a program finds the reason in the report.
            if isJSON { report.findings.append(Self.unsigned(identityFile, failure)) }
            self.show(report, source, nil, asJSON: isJSON)
            throw failure
        }
        let now = WallTime.now().seconds
        report.findings += identity.findings(at: now)
        report.findings += PackageBuilder(identity: identity).findings(signingAt: document.updatedAt, now: now)
        let package: OrderPackage
        switch self.sign(document, source, identity) {
        case .success(let signed): package = signed
        case .failure(let error):
            report.findings.append(error.finding)
            self.show(report, source, nil, asJSON: isJSON)
            throw CommandFailure(.checkFailed, "nothing was signed")
        }
        try await self.write(package, to: output)
        self.show(report, source, (output, package, identity, document.updatedAt), asJSON: isJSON)
    }

    private static func unsigned(_ identity: String, _ failure: CommandFailure) -> Finding {
        Finding(
            severity: .error,
            code: "not-signed",
            path: identity,
            message: "The identity can't be used: \(failure.message).",
            fix: "Mend what the message says, or sign with another identity."
        )
    }

    private static func sign(
        _ document: OrderDocument,
        _ source: SourceFolder,
        _ identity: SigningIdentity
    ) -> Result<OrderPackage, OrderPackageError> {
        Result { () throws(OrderPackageError) in
            // The order's own time and not the clock's: the same folder gives the same bytes on any day.
            try PackageBuilder(identity: identity).build(
                document.packageForm(),
                of: document,
                files: source.packageFiles(),
                signingTime: document.updatedAt
            )
        }
    }

    /// Reads the identity; of a folder, the one for this order type.
    private static func identity(
        _ path: String,
        for type: OrderTypeIdentifier,
        _ arguments: CommandDescription.Arguments,
        now: Int64
    ) async throws -> SigningIdentity {
        do {
            return try await runBlocking {
                if Files.isDirectory(path) {
                    let all = try SigningIdentity.load(folder: path)
                    guard let identity = all[type] else {
                        let names = all.keys.map(\.text).sorted().joined(separator: ", ")
                        throw CommandFailure(
                            .inputUnreadable,
                            "\(path): no certificate for \(type.text); there are \(names)"
                        )
                    }
                    try identity.checkValidity(at: now)
                    return identity
                }
                var files = SigningIdentity.Files(
                    identity: path,
                    key: arguments["key"],
                    intermediates: arguments.all("intermediate")
                )
                if let file = arguments["passphrase-file"] { try files.readPassphrase(file) }
                return try SigningIdentity.load(files, for: type, validAt: now)
            }
        } catch let error as OrderPackageError {
            throw CommandFailure(.inputUnreadable, error.description + self.option(for: error.code))
        }
    }

    /// The option that gives what is missing.
    private static func option(for code: OrderPackageError.Code) -> String {
        switch code {
        case .passphraseNeeded, .wrongPassphrase: " (--passphrase-file FILE)"
        case .unknownIssuer, .wrongIntermediate: " (--intermediate FILE)"
        case .noPrivateKey, .keyMismatch: " (--key PEM)"
        default: ""
        }
    }

    /// Writes the package whole or not at all.
    private static func write(_ package: OrderPackage, to output: String) async throws {
        if output == "-" { return try Files.writeStandardOutput(package.bytes) }
        do {
            try await runBlocking {
                // Replacing a device or a pipe by a file would be a surprise.
                if let fault = Self.fault(ofOutput: output) { throw CommandFailure(.inputUnreadable, fault) }
                try Files.write(package.bytes, to: output)
            }
        } catch let error as SystemError {
            throw CommandFailure(.inputUnreadable, "the package can't be written: \(error)")
        }
    }

    private static func fault(ofOutput output: String) -> String? {
        let folder = output.lastIndex(of: "/").map { $0 == output.startIndex ? "/" : String(output[..<$0]) } ?? "."
        guard Files.isDirectory(folder) else { return "\(output): the folder \(folder) is not there; make it first" }
        switch Files.kind(output) {
        case .folder: return "\(output): this is a folder; name the file to write in it"
        case .other: return "\(output): this is no regular file; use -o - for standard output"
        case .link where !Files.isRegularFile(output) && Files.exists(output):
            return "\(output): this leads to no regular file; use -o - for standard output"
        default: return nil
        }
    }

    private static func show(
        _ report: FindingReport,
        _ source: SourceFolder,
        _ result: (output: String, package: OrderPackage, identity: SigningIdentity, updatedAt: Int64)?,
        asJSON: Bool
    ) {
        if asJSON {
            guard case .object(var object) = report.json else { return }
            object["leftOut"] = .array(source.leftOut.map { .string($0) })
            if let (output, package, identity, updatedAt) = result {
                object["package"] = [
                    "path": .string(output),
                    "bytes": .number(JSONNumber(Int64(package.byteCount))),
                    "orderTypeIdentifier": .string(identity.orderTypeIdentifier.text),
                    "signingTime": .string(WallTime(seconds: identity.signingTime(for: updatedAt)).rfc3339),
                    "files": .array((["order.json"] + source.files.keys).sorted().map { .string($0) }),
                ]
            }
            Terminal.print(json: JSONValue.object(object))
            return
        }
        for finding in report.findings { Report.complain(finding) }
        for path in source.leftOut { Terminal.complain("left out: \(Terminal.line(path))") }
        guard let (output, package, identity, _) = result, output != "-" else { return }
        Terminal.print(
            "\(Terminal.line(output)): \(package.byteCount) bytes, signed for \(identity.orderTypeIdentifier.text)"
        )
    }
}
