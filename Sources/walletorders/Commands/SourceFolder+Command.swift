// SPDX-License-Identifier: Apache-2.0
import OrderModel
import OrderPackage
import ServiceRuntime

extension SourceFolder {
    /// Reads a folder off the event loops.
    ///
    /// - Parameter output: where the package goes, if one is built.
    /// - Throws: `CommandFailure` (66) when it or its order.json can't be read.
    static func read(_ path: String, output: String? = nil) async throws -> SourceFolder {
        do {
            return try await runBlocking { try SourceFolder(path, output: output) }
        } catch {
            throw CommandFailure(.inputUnreadable, Terminal.line("\(error)"))
        }
    }

    /// Checks the document, its texts and its files.
    func validate(as path: String, _ options: ValidationOptions = .init()) -> FindingReport {
        let findings = self.check(options).findings
        let isJSON = !Report.isUnread(findings)
        return FindingReport(
            file: path,
            checked: isJSON ? ["json", "order", "files", "strings"] : ["json"],
            findings: findings
        )
    }
}
