// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// A folder with the source of a package: `order.json`, images, `*.lproj` folders with `order.strings`.
struct SourceFolder: Sendable {
    let path: String
    /// The bytes of `order.json`.
    let order: [UInt8]
    /// All other files that belong into a package.
    let files: [PackageFile]
    /// What lay in the folder and does not belong: editor files, system files.
    let skipped: [String]

    /// Reads a folder.
    ///
    /// - Throws: `CommandFailure` (66) when it or its order.json can't be read.
    static func read(_ path: String) async throws -> SourceFolder {
        do {
            return try await runBlocking {
                var files: [PackageFile] = []
                var skipped: [String] = []
                for name in try Files.list(path) where name != "order.json" {
                    let isFolder = Files.isDirectory("\(path)/\(name)")
                    if isFolder, name.hasSuffix(".lproj") {
                        for inner in try Files.list("\(path)/\(name)") {
                            try self.take("\(name)/\(inner)", in: path, &files, &skipped)
                        }
                    } else if isFolder {
                        skipped.append(name + "/")
                    } else {
                        try self.take(name, in: path, &files, &skipped)
                    }
                }
                return SourceFolder(
                    path: path,
                    order: try Files.read(path + "/order.json"),
                    files: files,
                    skipped: skipped
                )
            }
        } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
    }

    private static func take(
        _ name: String,
        in folder: String,
        _ files: inout [PackageFile],
        _ skipped: inout [String]
    ) throws {
        // What a package signed is not its source; neither are dot files, editors' swap files and their like.
        let last = name.split(separator: "/").last.map(String.init) ?? name
        let isStray = last.hasPrefix(".") || last.hasSuffix("~") || last.hasSuffix(".swp") || last.hasSuffix(".tmp")
        if isStray || ["manifest.json", "signature"].contains(name) || (try? PackagePath(name)) == nil {
            skipped.append(name)
            return
        }
        files.append(try PackageFile(path: name, contents: try Files.read("\(folder)/\(name)")))
    }

    /// Checks the document, its texts and its files.
    func validate(_ options: ValidationOptions = .init()) -> FindingReport {
        let (document, findings) = OrderDocument.validate(text: self.order, options)
        var all = findings
        let names = Set(self.files.map(\.path))
        for reference in document?.fileReferences ?? [] where !self.has(reference.name, in: names) {
            all.append(
                Finding(
                    severity: .error,
                    code: "file-missing",
                    pointer: reference.pointer,
                    message: "The folder has no file \(reference.name).",
                    fix: "Add it, or take the name out."
                )
            )
        }
        for file in self.files where file.path.hasSuffix("/order.strings") {
            do { _ = try StringsTable.parse(file.contents) } catch {
                all.append(
                    Finding(
                        severity: .error,
                        code: "strings-syntax",
                        path: file.path,
                        message: "\(error)",
                        fix: "Write lines of the form \"key\" = \"text\";"
                    )
                )
            }
        }
        return FindingReport(file: self.path, checked: ["json", "order", "files", "strings"], findings: all)
    }

    /// Whether a file of this name is there: at the top, as @2x or @3x, or in a localization.
    private func has(_ name: String, in names: Set<String>) -> Bool {
        if names.contains(name) { return true }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let variants = [name] + ["@2x", "@3x"].map { name[..<dot] + $0 + name[dot...] }
        return names.contains { path in variants.contains { path == $0 || path.hasSuffix("/" + $0) } }
    }
}
