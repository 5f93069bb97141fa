// SPDX-License-Identifier: Apache-2.0

import OrderModel

extension ChangeRun {
    // short: PackagePaths and locales, which are short ASCII.
    /// What a document names, and as what: the same file may be shown as a receipt and not as a logo.
    static func uses(_ document: OrderDocument) -> Set<String> {
        Set(document.fileReferences.map { "\($0.use.rawValue) \($0.name)" })
    }

    /// What is to be said of the files to whoever changes them or the document. Events, of which there are many, and
    /// roll-outs get no such answer.
    ///
    /// - Throws: ``StoreError`` with `invalidFile` or `invalidDocument` when this change makes a file of the order what it
    ///   is not; what was so before keeps nobody from changing something else.
    static func fileFindings(_ draft: OrderDraft, _ plan: FilePlan) throws(StoreError) -> [Finding] {
        guard !draft.changeIndexes.isEmpty, !draft.repins else { return [] }
        let findings = plan.findings(of: draft.document)
        guard findings.contains(where: \.isError) else { return findings }
        let known = draft.documentChanged ? plan.findings(of: draft.original) : findings
        let before = Set(known.filter { $0.isError && draft.files[$0.path ?? ""] == nil }.map(\.path))
        let new = findings.filter { $0.isError && !before.contains($0.path) }
        if let file = new.first {
            let came = draft.files[file.path ?? ""] != nil
            throw StoreError(
                came ? .invalidFile : .invalidDocument,
                "A file is not what the order names it as.",
                findings: new,
                order: draft.locked.key
            )
        }
        return findings.map { finding in
            var finding = finding
            finding.severity = .warning
            return finding
        }
    }
}
