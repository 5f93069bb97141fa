// SPDX-License-Identifier: Apache-2.0

import OrderModel

/// Tells findings about a document of a finished package.
///
/// Where orders come in, some things are put right on their way into the package, and the findings say so. A finished
/// package stays as it is, and Wallet reads it as it is.
enum FinishedOrder {
    /// What there is to say about a file's first bytes.
    ///
    /// RFC 8259 8.1: nobody must write a byte order mark in front of JSON, though readers may pass over one.
    static func markFinding(_ path: String, _ bytes: [UInt8]) -> Finding? {
        guard bytes.starts(with: PackageBuilder.mark) else { return nil }
        return Finding(
            severity: .warning,
            code: "byte-order-mark",
            path: path,
            message: "A byte order mark stands in front of the JSON, which Wallet may refuse.",
            fix: "Write the file as UTF-8 without a mark, and build the package anew."
        )
    }

    /// The finding as it is of a signed package.
    static func finding(_ finding: Finding) -> Finding {
        var finding = finding
        switch finding.code {
        case "numeric-string":
            // Apple: `LineItem.quantity` is a number; any other type is refused.
            finding.severity = .error
            finding.message = "The number is a text in this package; Wallet wants a number."
            finding.fix = "Write it without quotes, and build the package anew."
        case "fractional-seconds":
            finding.message = "The date has fractions of a second in this package, which Wallet may refuse."
            finding.fix = "Write whole seconds, and build the package anew."
        case "date-in-lower-case":
            finding.message = "The date has a t or z in lower case in this package, which Wallet may refuse."
            finding.fix = "Write T and Z in capitals, and build the package anew."
        case "leap-second":
            finding.message = "The date has a 61st second in this package, which Wallet may refuse."
            finding.fix = "Write the second behind it, and build the package anew."
        case "null-member":
            finding.message = "The member is null in this package; Wallet may refuse that, or take it as absent."
            finding.fix = "Leave the member out, and build the package anew."
        default: break
        }
        return finding
    }
}
