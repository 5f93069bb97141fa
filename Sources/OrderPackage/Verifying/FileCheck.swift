// SPDX-License-Identifier: Apache-2.0

public import ExactJSON
public import OrderModel

/// Holds an order against the files that go with it: in a package, or in a source folder.
public enum FileCheck {
    /// Checks that every file the order names is there and of a kind that Wallet shows, and that localization folders
    /// are whole.
    ///
    /// - Parameters:
    ///   - order: the order document; it may have faults of its own.
    ///   - files: contents by path; `order.json`, `manifest.json` and `signature` don't matter.
    public static func check(_ order: JSONValue, files: [String: [UInt8]]) -> [Finding] {
        var check = Check(files: files)
        // Read through the model without judging: what is wrong with the document itself is said elsewhere.
        if let document = try? OrderDocument.trusted(order) {
            for reference in document.fileReferences { check.find(reference) }
            check.listUnused()
        }
        let tables = check.checkFolders()
        return check.list.findings + LocalizationCheck.check(order, tables)
    }
}

extension FileCheck {
    private struct Check {
        var list = FindingList()
        let files: [String: [UInt8]]
        let paths: [String]
        /// Localization folders, `fr.lproj`.
        let folders: [String]
        var used: Set<String> = []
        var checked: Set<String> = []

        init(files: [String: [UInt8]]) {
            self.files = files
            paths = files.keys.filter { !PackageFile.reserved.contains($0) && !StrayFile.matches($0) }.sorted()
            var folders: [String] = []
            for path in paths {
                guard let slash = path.firstIndex(of: "/") else { continue }
                let folder = String(path[..<slash])
                if folder.hasSuffix(".lproj"), folders.last != folder { folders.append(folder) }
            }
            self.folders = folders
        }

        /// Finds what a reference means: the name itself or its @2x and @3x forms, at the top or localized; a name
        /// without extension stands for any.
        mutating func find(_ reference: FileReference) {
            let top = variants(of: reference, in: "")
            var found = top
            var missing: [String] = []
            for folder in folders {
                let local = variants(of: reference, in: folder + "/")
                if local.isEmpty { missing.append(folder) }
                found += local
            }
            used.formUnion(found)
            if found.isEmpty { return addMissing(reference) }
            if top.isEmpty, !missing.isEmpty {
                list.append(
                    Finding(
                        severity: .warning,
                        code: "localized-file-missing",
                        pointer: reference.pointer,
                        message:
                            "\"\(reference.name)\" is not in \(missing.joined(separator: ", ")), nor at the top level.",
                        fix: "Put it into every localization folder, or once at the top level."
                    )
                )
            }
            if !top.isEmpty, found.count > top.count, checked.insert("over/" + reference.name).inserted {
                list.warning(
                    "localized-file-overridden",
                    reference.name,
                    "The file is at the top level too, which overrides its localized forms.",
                    fix: "Keep it in the localization folders only."
                )
            }
            for path in found where checked.insert("\(reference.use.isImage)/\(path)").inserted {
                checkFormat(path, reference.use)
            }
        }

        private func variants(of reference: FileReference, in folder: String) -> [String] {
            let plain = folder + reference.name
            if !reference.use.isImage { return files[plain] == nil ? [] : [plain] }
            let (stem, suffix) = split(plain)
            let exact = ["\(stem)\(suffix)", "\(stem)@2x\(suffix)", "\(stem)@3x\(suffix)"].filter { files[$0] != nil }
            if !exact.isEmpty || !suffix.isEmpty { return exact }
            return paths.filter { path in
                let (base, suffix) = split(path)
                return !suffix.isEmpty && [plain, plain + "@2x", plain + "@3x"].contains(base)
            }
        }

        /// A path before and from the last dot of its name.
        private func split(_ path: String) -> (stem: String, suffix: String) {
            let name = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
            guard let dot = path[name...].lastIndex(of: "."), dot > name else { return (path, "") }
            return (String(path[..<dot]), String(path[dot...]))
        }

        private mutating func addMissing(_ reference: FileReference) {
            let other = paths.first { $0.lowercased() == reference.name.lowercased() }
            list.append(
                Finding(
                    severity: .error,
                    code: "file-missing",
                    pointer: reference.pointer,
                    message: "The order names the file \"\(reference.name)\", which isn't there.",
                    fix: other.map { "There is \"\($0)\"; upper and lower case count." }
                        ?? "Add the file, or take the member out."
                )
            )
        }

        private mutating func checkFormat(_ path: String, _ use: FileUse) {
            guard let contents = files[path], !contents.isEmpty else { return }
            let format = AssetFormat(contents)
            if use.isImage, format?.isImage != true {
                list.error(
                    "file-format",
                    path,
                    "The file is shown as an image, but is \(format == .pdf ? "PDF" : "neither PNG nor JPEG").",
                    fix: "Use PNG or JPEG, 300 by 300 pixels."
                )
            } else if format == nil {
                list.error("file-format", path, "The file is neither PDF, PNG nor JPEG.", fix: "Use one of these.")
            }
        }

        mutating func listUnused() {
            for path in paths where !used.contains(path) && !path.hasSuffix(".lproj/order.strings") {
                list.warning(
                    "file-unused",
                    path,
                    "Nothing in the order names this file.",
                    fix: "Leave it out: packages are sent whole, each time."
                )
            }
        }

        /// Checks the localization folders, and gives the texts of those that can be read.
        mutating func checkFolders() -> [LocaleIdentifier: StringsTable] {
            var tables: [LocaleIdentifier: StringsTable] = [:]
            for folder in folders {
                let name = String(folder.dropLast(6))
                let locale = try? LocaleIdentifier(name)
                if locale == nil {
                    list.error(
                        "locale-name",
                        folder,
                        "\"\(name)\" is no language with an optional script and region.",
                        fix: "Name the folder as in fr.lproj, pt-BR.lproj or zh-Hans.lproj."
                    )
                }
                let path = "\(folder)/order.strings"
                guard let bytes = files[path] else {
                    list.error(
                        "strings-missing",
                        folder,
                        "The localization folder has no order.strings.",
                        fix: "Add the file, with the same keys as in the other languages."
                    )
                    continue
                }
                // That it is empty is said where files are read.
                guard !bytes.isEmpty else { continue }
                do throws(StringsError) {
                    let table = try StringsTable.parse(bytes)
                    if let locale { tables[locale] = table }
                } catch {
                    list.append(Finding(strings: error, path: path))
                }
            }
            return tables
        }
    }
}
