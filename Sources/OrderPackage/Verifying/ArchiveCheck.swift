// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import ZipFiles

/// Reads the archive, and says what of it a device would trip over.
struct ArchiveCheck {
    private(set) var list = FindingList()
    /// Contents by path; what couldn't be unpacked is missing.
    private(set) var contents: [String: [UInt8]] = [:]
    /// The paths of all files, unpacked or not, in the order of the archive.
    private(set) var paths: [String] = []
    private(set) var files: [VerificationReport.File] = []

    /// The whole archive, in findings that concern no single file.
    private static let whole = "."

    init(_ bytes: [UInt8]) {
        if bytes.count >= WalletPolicy.packageLimit {
            list.error(
                "package-too-large",
                Self.whole,
                "The package has \(bytes.count) bytes; it must stay below 5 MB.",
                fix: "Use smaller images (300 by 300 pixels), receipts and labels."
            )
        }
        let (reader, faults) = ZipReader.inspect(bytes)
        for fault in faults {
            list.error(
                "zip-" + Self.kebab(fault.code.rawValue),
                fault.entry ?? Self.whole,
                Self.sentence(fault.message),
                fix: "Write the archive anew, with plain files at its top level and in .lproj folders."
            )
        }
        for notice in reader.notices {
            list.add(
                Self.severity(notice.code),
                "zip-" + Self.kebab(notice.code.rawValue),
                notice.entry ?? Self.whole,
                Self.sentence(notice.message)
            )
        }
        for entry in reader.entries where !entry.isFolder { read(entry, reader) }
        checkPlaces()
    }

    private mutating func read(_ entry: ZipEntry, _ reader: ZipReader) {
        paths.append(entry.name)
        if StrayFile.matches(entry.name) {
            list.warning(
                "stray-file",
                entry.name,
                "The file is a leftover of a system or an editor, and would travel to customers.",
                fix: "Leave it out."
            )
        }
        var digest: SHA256Digest?
        do throws(ZipError) {
            let bytes = try reader.contents(of: entry)
            digest = SHA256.hash(bytes)
            // Of two files of a path, the first counts; the archive was found faulty already.
            if contents[entry.name] == nil { contents[entry.name] = bytes }
            if bytes.isEmpty, entry.name != "signature" {
                list.error(
                    "empty-file",
                    entry.name,
                    "The file is empty, and devices pass over it.",
                    fix: "Leave it out."
                )
            }
        } catch {
            list.error("zip-" + Self.kebab(error.code.rawValue), entry.name, Self.sentence(error.message))
        }
        files.append(
            VerificationReport.File(
                path: entry.name,
                size: entry.size,
                compressedSize: entry.compressedSize,
                digest: digest
            )
        )
    }

    private mutating func checkPlaces() {
        guard !paths.contains("order.json"), !paths.contains("manifest.json") else { return }
        guard let inner = paths.first(where: { $0.hasSuffix("/order.json") || $0.hasSuffix("/manifest.json") }),
            let slash = inner.lastIndex(of: "/")
        else { return }
        list.error(
            "enclosing-folder",
            String(inner[..<slash]),
            "The package's files lie in a folder instead of at the top level.",
            fix: "Zip the contents of the folder, not the folder."
        )
    }

    private static func severity(_ code: ZipNotice.Code) -> Finding.Severity {
        switch code {
        case .similarNames, .dataDescriptor, .folder, .nameEncoding, .headerDetail: .warning
        case .comment, .directoryOrder: .note
        }
    }

    /// `dataDescriptor` as `data-descriptor`, `zip64` as it is.
    static func kebab(_ name: String) -> String {
        var text = ""
        for character in name {
            if character.isUppercase { text += "-" }
            text += character.lowercased()
        }
        return text
    }

    static func sentence(_ message: String) -> String {
        message.prefix(1).uppercased() + message.dropFirst() + "."
    }
}
