// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import OrderModel
import OrderPackage
import ServiceRuntime

/// `package verify`: everything that would make Wallet refuse a package.
enum PackageVerifyCommand: Command {
    static let description = CommandDescription(
        "walletorders package verify",
        "Explain everything that would make Wallet refuse a package, or an unpacked folder; - reads standard input.",
        options: [
            CommandLineOption(
                "trust",
                value: "FILE",
                repeatable: true,
                "a root beside Apple's, PEM or DER; may be repeated"
            ),
            CommandLineOption(
                "intermediate",
                value: "FILE",
                repeatable: true,
                "an issuing certificate that the package lacks, PEM or DER; may be repeated"
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
        guard !arguments.operands.isEmpty else {
            throw UsageError("name the packages to verify, or - for standard input")
        }
        guard arguments.operands.count(where: { $0 == "-" }) <= 1 else {
            throw UsageError("- can stand once: standard input is read to its end")
        }
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
        let verifier = PackageVerifier(trust: roots, intermediates: issuers, at: at)
        var isValid = true
        var unreadable: CommandFailure?
        for path in arguments.operands {
            do {
                let report = try await verifier.verify(file: path)
                isValid = isValid && report.isValid
                Report.print(file: path, report: report.report(file: path), asJSON: arguments.has("json"))
            } catch let failure as CommandFailure {
                // The others are checked all the same.
                if let earlier = unreadable { Terminal.complain(earlier.message) }
                unreadable = failure
            }
        }
        if let unreadable { throw unreadable }
        if !isValid { throw CommandFailure(.checkFailed, "") }
    }
}

extension PackageVerifier {
    /// Reads and checks a package, from standard input if it is called `-`, or an unpacked one, off the event loops.
    ///
    /// - Throws: `CommandFailure` (66) when it can't be read.
    func verify(file path: String) async throws -> VerificationReport {
        do {
            return try await runBlocking {
                if path == "-" {
                    return self.verify(try Files.read(descriptor: 0, name: "standard input", limit: 16 << 20))
                }
                guard Files.isDirectory(path) else { return self.verify(try Files.read(path)) }
                return self.verify(try UnpackedFolder(path))
            }
        } catch let error as SystemError where error.errno == EFBIG {
            throw CommandFailure(.inputUnreadable, "\(path) is far too large: a package stays below 5 MB")
        } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
    }
}
