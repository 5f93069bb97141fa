// SPDX-License-Identifier: Apache-2.0

import OrderModel
import ZipFiles

/// How the archive's faults and oddities are told as findings.
enum ArchiveAdvice {
    /// The finding's code for a fault: `zip-symlink`, `zip-header-mismatch`.
    static func code(_ code: ZipError.Code) -> String { "zip-" + kebab(code.rawValue) }

    /// The finding's code for something noticed.
    static func code(_ code: ZipNotice.Code) -> String { "zip-" + kebab(code.rawValue) }

    /// Devices read what is only noticed, or pass over it; but what they pass over may be missing then.
    ///
    /// Sizes behind the data are no more than a warning, for `order.json` too: that devices pass over entries of unknown
    /// size is known from a disassembly alone, a reader that goes by the directory knows the sizes all the same, and
    /// passes that are written so are accepted in practice.
    static func severity(_ code: ZipNotice.Code) -> Finding.Severity {
        switch code {
        case .similarNames, .dataDescriptor, .folder, .nameEncoding, .headerDetail, .zip64: .warning
        case .comment, .directoryOrder: .note
        }
    }

    /// What to do about a fault.
    static func fix(_ code: ZipError.Code) -> String {
        switch code {
        case .notAnArchive: "Send the .order file itself: a zip archive, not its folder, a page or an error message."
        case .truncated: "Copy or download the file again, in binary; finish the archive before it is sent."
        case .malformed: "Write the archive anew with another zip tool or library."
        case .duplicateName: "Add each file once."
        case .unsafePath: "Name files as in logo.png and en.lproj/order.strings."
        case .badName: "Write names in UTF-8."
        case .symlink: "Put the file itself there (zip without -y)."
        case .specialFile: "Put plain files into the package."
        case .headerMismatch, .overlap, .gap, .hiddenEntry, .trailingBytes:
            "Write the archive anew and in one go; don't append to it or edit it."
        case .alternateName: "Write names once, in UTF-8, without extra fields (zip -X)."
        case .tooManyEntries:
            "Put in only what the order names, and name fewer files: one image may serve many line items."
        case .tooLarge, .ratio: "Put in only what the order names, as small images."
        case .encrypted: "Zip without a password."
        case .unsupportedMethod: "Store or deflate the files."
        case .zip64: "Write the archive without zip64 (zip -fz-); a package is small."
        case .multipleDisks: "Write one archive, not one in parts."
        case .badChecksum, .badData: "Copy the file again, in binary, or write the archive anew."
        }
    }

    /// What to do about something noticed.
    static func fix(_ code: ZipNotice.Code) -> String {
        switch code {
        case .similarNames: "Rename one of them."
        case .dataDescriptor: "Write sizes into the local headers: to a file instead of a pipe, or store the files."
        case .folder: "Leave folders out (zip -D)."
        case .comment: "Leave the comment out."
        case .nameEncoding: "Use ASCII names, or set the flag for UTF-8."
        case .directoryOrder: "Write the archive anew, in one go."
        case .zip64: "Write the archive without zip64 (zip -fz-); a package is small."
        case .headerDetail: "Write the archive with another zip tool or library."
        }
    }

    /// `dataDescriptor` as `data-descriptor`, `zip64` as it is.
    private static func kebab(_ name: String) -> String {
        var text = ""
        for character in name {
            if character.isUppercase { text += "-" }
            text += character.lowercased()
        }
        return text
    }
}
