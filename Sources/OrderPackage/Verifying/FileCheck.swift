// SPDX-License-Identifier: Apache-2.0

public import ExactJSON
public import OrderModel

/// What is known of a file when an order is held against it.
package enum KnownFile: Sendable {
    /// All of it.
    case contents([UInt8])
    /// What it is by its contents; nil when that is nothing that Wallet shows.
    case format(AssetFormat?)
    /// The texts of an `order.strings`.
    case texts(StringsTable)
}

/// Holds an order against the files that go with it: in a package, in a source folder, or in the store that packages are
/// made of.
public enum FileCheck {
    // short: paths of a package, or of who calls.
    /// Checks that every file the order names is there and of a kind that Wallet shows, and that localization folders
    /// are whole.
    ///
    /// - Parameters:
    ///   - order: the order document; it may have faults of its own.
    ///   - files: contents by path; `order.json`, `manifest.json` and `signature` don't matter.
    public static func check(_ order: JSONValue, files: [String: [UInt8]]) -> [Finding] {
        check(order, Dictionary(uniqueKeysWithValues: files.map { (ExactKey($0.key), $0.value) }))
    }

    static func check(_ order: JSONValue, _ files: [ExactKey: [UInt8]]) -> [Finding] {
        check(order, files.mapValues(KnownFile.contents))
    }

    /// The same when not everything is at hand: what is wrong inside an image of which only the format is known is not told.
    package static func check(_ order: JSONValue, _ files: [ExactKey: KnownFile]) -> [Finding] {
        var check = Check(order, files: files)
        let names = FileNameCheck(order, paths: check.paths)
        for (path, use) in names.used { check.checkFormat(path, use) }
        let tables = check.checkFolders(names.misnamedStrings)
        return names.findings + check.list.findings + LocalizationCheck.check(order, tables)
    }
}

extension FileCheck {
    private struct Check {
        var list = FindingList()
        let files: [ExactKey: KnownFile]
        let paths: [String]
        /// Localization folders, `fr.lproj`.
        let folders: [String]

        init(_ order: JSONValue, files: [ExactKey: KnownFile]) {
            self.files = files
            let all = files.keys.sorted().map(\.text)
            let named = StrayFile.named(by: order, among: all)
            paths = all.filter {
                !$0.isExactly(oneOf: PackageFile.reserved)
                    && (!StrayFile.matches($0) || named.contains(ExactKey($0)))
            }
            folders = FileNameCheck.localizationFolders(paths)
        }

        mutating func checkFormat(_ path: String, _ use: FileUse) {
            let format: AssetFormat?
            var contents: [UInt8]?
            switch files[ExactKey(path)] {
            case .contents(let bytes) where !bytes.isEmpty: (format, contents) = (AssetFormat(bytes), bytes)
            case .format(let known): format = known
            case .texts: format = nil
            default: return
            }
            if use.isImage, format?.isImage != true {
                list.error(
                    "file-format",
                    path,
                    "The file is shown as an image, but is \(format == .pdf ? "PDF" : "neither PNG nor JPEG").",
                    fix: "Use PNG or JPEG, 300 by 300 pixels."
                )
            } else if format == nil {
                list.error("file-format", path, "The file is neither PDF, PNG nor JPEG.", fix: "Use one of these.")
            } else if format?.isImage == true, let contents {
                for finding in ImageCheck.findings(path, contents, use) { list.append(finding) }
            }
        }

        /// Far more than all languages of Wallet need, and little enough to hold in memory.
        private static let textLimit = 100_000

        private mutating func addTooManyTexts(_ path: String) {
            list.error(
                "strings-too-many",
                path,
                "The localization folders have \(Self.textLimit) texts or more in all; further folders aren't read.",
                fix: "Give only the texts that the order shows, in the languages of its customers."
            )
        }

        /// The texts of a file; nil when it is empty or no `order.strings`.
        private static func table(_ file: KnownFile) throws(StringsError) -> StringsTable? {
            switch file {
            case .texts(let table): table
            case .contents(let bytes): bytes.isEmpty ? nil : try StringsTable.parse(bytes)
            case .format: nil
            }
        }

        /// Checks the localization folders, and gives the texts of those that can be read.
        ///
        /// - Parameter misnamed: by folder, what its `order.strings` is called by mistake.
        mutating func checkFolders(_ misnamed: [ExactKey: String]) -> [LocaleIdentifier: StringsTable] {
            var tables: [LocaleIdentifier: StringsTable] = [:]
            var room = Self.textLimit
            for folder in folders {
                let name = String(Substring(folder.utf8.dropLast(6)))
                let locale = try? LocaleIdentifier(name)
                if locale == nil {
                    list.error(
                        "locale-name",
                        folder,
                        "\"\(name)\" is no language with an optional script and region.",
                        fix: LocaleIdentifier.advice(for: name)
                    )
                }
                let path = "\(folder)/order.strings"
                guard let file = files[ExactKey(path)] else {
                    let other = misnamed[ExactKey(folder)]
                    list.error(
                        "strings-missing",
                        folder,
                        other?.isCaseless("pass.strings") == true
                            ? "The localization folder has a pass.strings, which is for passes; orders use order.strings."
                            : "The localization folder has no order.strings.",
                        fix: other.map { "Rename \($0) to order.strings." }
                            ?? "Add the file, with the same keys as in the other languages."
                    )
                    continue
                }
                // That it is empty is said where files are read.
                guard room > 0 else { continue }
                do throws(StringsError) {
                    guard let table = try Self.table(file) else { continue }
                    room -= table.entries.count + table.repeated.count
                    if room <= 0 { addTooManyTexts(path) }
                    if let locale { tables[locale] = table }
                } catch {
                    list.append(Finding(strings: error, path: path))
                }
            }
            return tables
        }
    }
}
