// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// `order validate`: a document alone, or a source folder with its texts and images.
enum OrderValidateCommand: Command {
    static let description = CommandDescription(
        "walletorders order validate",
        "Check order documents or source folders; - reads standard input.",
        options: [
            CommandLineOption("target", value: "RELEASE", "the oldest system to work on: ios16, ios17, …"),
            CommandLineOption("json", "print JSON, one object a line"),
        ],
        operands: "FILE…"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard !arguments.operands.isEmpty else {
            throw UsageError("name the documents to check, or - for standard input")
        }
        var options = ValidationOptions()
        if let text = arguments["target"] {
            guard let target = AppleRelease(text) else {
                throw UsageError("--target is one of ios16, ios16.4, ios17, ios17.2, ios17.4, not \(text)")
            }
            options.target = target
        }
        var isValid = true
        for path in arguments.operands {
            let report = try await self.check(path, options)
            isValid = isValid && report.isValid
            Report.print(file: path, report: report, asJSON: arguments.has("json"))
        }
        if !isValid { throw CommandFailure(.checkFailed, "") }
    }

    private static func check(_ path: String, _ options: ValidationOptions) async throws -> FindingReport {
        if path != "-", Files.isDirectory(path) { return try await SourceFolder.read(path).validate(as: path, options) }
        let bytes: [UInt8]
        do {
            bytes = try await runBlocking {
                path == "-"
                    ? try Files.read(descriptor: 0, name: "standard input", limit: 16 << 20) : try Files.read(path)
            }
        } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
        return FindingReport(
            file: path,
            checked: ["json", "order"],
            findings: OrderDocument.validate(text: bytes, options).findings
        )
    }
}
