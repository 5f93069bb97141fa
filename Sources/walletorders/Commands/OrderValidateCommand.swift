// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Glibc
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
            CommandLineOption("first", "check an order's first version, whose updatedAt must equal its createdAt"),
            CommandLineOption("json", "print JSON, one object a line"),
        ],
        operands: "FILE…"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard !arguments.operands.isEmpty else {
            throw UsageError("name the documents to check, or - for standard input")
        }
        guard arguments.operands.count(where: { $0 == "-" }) <= 1 else {
            throw UsageError("- can stand once: standard input is read to its end")
        }
        var options = ValidationOptions()
        if let text = arguments["target"] {
            guard let target = AppleRelease(text) else {
                throw UsageError("--target is a release such as ios16, ios17.2, ios18 or ios26, not \(text)")
            }
            options.target = target
        }
        options.isFirstRevision = arguments.has("first")
        var isValid = true
        var unreadable: CommandFailure?
        for path in arguments.operands {
            do {
                let report = try await self.check(path, options)
                isValid = isValid && report.isValid
                Report.print(file: path, report: report, asJSON: arguments.has("json"))
            } catch let failure as CommandFailure {
                // The others are checked all the same.
                if let earlier = unreadable { Terminal.complain(earlier.message) }
                unreadable = failure
            }
        }
        if let unreadable { throw unreadable }
        if !isValid { throw CommandFailure(.checkFailed, "") }
    }

    /// The largest text that the parser takes.
    private static let sizeLimit = JSONLimits.standard.bytes

    private static func check(_ path: String, _ options: ValidationOptions) async throws -> FindingReport {
        if path != "-", Files.isDirectory(path) { return try await SourceFolder.read(path).validate(as: path, options) }
        let bytes: [UInt8]
        do {
            bytes = try await runBlocking {
                path == "-"
                    ? try Files.read(descriptor: 0, name: "standard input", limit: self.sizeLimit)
                    : try Files.read(path, limit: self.sizeLimit)
            }
        } catch {
            throw CommandFailure(
                .inputUnreadable,
                "\(error)" + ((error as? SystemError)?.errno == EFBIG ? "; at most 8 MiB are taken" : "")
            )
        }
        let findings = OrderDocument.validate(text: bytes, options).findings
        // Behind a fault in the syntax nothing was looked at.
        let isJSON = !Report.isUnread(findings)
        return FindingReport(file: path, checked: isJSON ? ["json", "order"] : ["json"], findings: findings)
    }
}
