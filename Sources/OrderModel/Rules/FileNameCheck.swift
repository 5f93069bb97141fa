// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Holds the files that an order names against those that are there, by name alone.
///
/// Apple: WalletOrders, "Creating the source for an order": a file at the top level overrides localized ones; each
/// localization has the same images in the same number of resolutions.
public struct FileNameCheck: Sendable {
    /// What there is to say.
    public var findings: [Finding] { bounded.list }
    /// The files that the order uses, each once for each kind of use, so that their format can be checked.
    public private(set) var used: [(path: String, use: FileUse)] = []

    /// By localization folder that has no `order.strings`, the name of the file there that most likely is meant to be it.
    package let misnamedStrings: [ExactKey: String]

    private var bounded = BoundedFindings()
    private let paths: [String]
    private let index: FileNameIndex
    private var told: Set<Told> = []
    /// Names that are not there, with what to do about them.
    private var absent: [Told: String] = [:]
    /// Files that a name which is not there most likely means, with the first such name.
    private var meant: [ExactKey: String] = [:]
    private var search: NearMiss

    /// What was told already: of images a name or file means another than of receipts and labels.
    private struct Told: Hashable {
        let isImage: Bool
        let isFile: Bool
        let name: ExactKey
    }

    /// Checks an order, which may have faults of its own.
    ///
    /// - Parameters:
    ///   - order: the order document.
    ///   - paths: the files beside `order.json` that go into the package.
    public init(_ order: JSONValue, paths: some Sequence<String>) {
        self.paths = paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        index = FileNameIndex(self.paths, folders: Self.localizationFolders(self.paths))
        search = NearMiss(self.paths)
        misnamedStrings = Self.misnamedStrings(self.paths, index)
        for reference in TextWalk(order, for: .files).files { find(reference) }
        listUnused()
    }

    /// The localization folders among paths, `fr.lproj`, sorted.
    public static func localizationFolders(_ paths: some Sequence<String>) -> [String] {
        var folders: Set<ExactKey> = []
        for path in paths {
            guard let slash = path.utf8.firstIndex(of: UInt8(ascii: "/")) else { continue }
            let folder = path[..<slash]
            if folder.endsExactly(with: ".lproj") { folders.insert(ExactKey(String(folder))) }
        }
        return folders.sorted().map(\.text)
    }

    /// Names that differ in upper and lower case only: on a Mac's disk one takes the place of the other, and the order means
    /// one of them.
    public static func similarNames(_ paths: some Sequence<String>) -> [Finding] {
        var first: [LookalikeName: String] = [:]
        var findings = BoundedFindings()
        for path in paths.map(ExactKey.init).sorted().map(\.text) {
            guard let other = first.updateValue(path, forKey: LookalikeName(path.lowercased())) else { continue }
            findings.append(
                Finding(
                    severity: .warning,
                    code: "names-differ-in-case",
                    path: path,
                    message: "The name differs from \"\(DocumentWalk.shown(other))\" in upper and lower case only.",
                    fix: "Keep one of them, spelt as the order spells it, or give one another name."
                )
            )
        }
        return findings.list
    }

    /// Finds what a reference means: the name itself or its @2x and @3x forms, at the top or localized; a name without
    /// extension stands for any.
    private mutating func find(_ reference: FileReference) {
        let isImage = reference.use.isImage
        let name = Told(isImage: isImage, isFile: false, name: ExactKey(reference.name))
        if let fix = absent[name] { return addMissing(reference, fix: fix) }
        guard told.insert(name).inserted else { return }
        let top = index.paths(of: reference, in: nil)
        var counts: [(folder: String, count: Int)] = []
        var found = top
        for folder in index.folders(of: reference) {
            let local = index.paths(of: reference, in: folder)
            counts.append((folder, local.count))
            found += local
        }
        for path in found.map(index.written) {
            guard told.insert(Told(isImage: isImage, isFile: true, name: ExactKey(path))).inserted else { continue }
            used.append((path, reference.use))
        }
        if found.isEmpty {
            let fix = self.fix(forMissing: reference.name)
            absent[name] = fix
            return addMissing(reference, fix: fix)
        }
        if found.contains(where: index.isWrittenOtherwise) {
            add(
                .warning,
                "names-differ-in-case",
                reference.pointer,
                "The order and the file write an accent of \"\(DocumentWalk.shown(reference.name))\" in two ways, and systems"
                    + " differ over whether that is one name.",
                fix: "Give the file a name without accents."
            )
        }
        if top.isEmpty { return compare(counts, reference) }
        if found.count > top.count {
            let folder = counts.first?.folder ?? ""
            add(
                .warning,
                "localized-file-overridden",
                reference.name,
                "The file is at the top level and in \(folder); Wallet shows the one at the top in every language.",
                fix: "Take it away from the top level, or out of the localization folders."
            )
        }
    }

    /// Each language has to have the file, in as many resolutions.
    private mutating func compare(_ counts: [(folder: String, count: Int)], _ reference: FileReference) {
        if counts.count < index.folders.count {
            let having = Set(counts.map { ExactKey($0.folder) })
            var missing = Array(index.folders.lazy.filter { !having.contains(ExactKey($0)) }.prefix(6))
            if missing.count == 6 { missing[5] = "others" }
            // Apple, "Creating the source for an order": folders without all images are a reason to refuse an order.
            return add(
                .error,
                "localized-file-missing",
                reference.pointer,
                "\"\(DocumentWalk.shown(reference.name))\" is not in \(ObjectDescription.list(missing)),"
                    + " nor at the top level.",
                fix: "Put it into every localization folder, or once at the top level."
            )
        }
        guard let most = counts.max(by: { $0.count < $1.count }),
            let least = counts.min(by: { $0.count < $1.count }), most.count != least.count
        else { return }
        add(
            .warning,
            "localized-resolutions-differ",
            reference.pointer,
            "\"\(DocumentWalk.shown(reference.name))\" has \(most.count) resolutions in \(most.folder), but"
                + " \(least.count) in \(least.folder); Wallet wants the same number in each.",
            fix: "Give every localization folder the same @2x and @3x files."
        )
    }

    private mutating func addMissing(_ reference: FileReference, fix: String) {
        add(
            .error,
            "file-missing",
            reference.pointer,
            "The order names the file \"\(DocumentWalk.shown(reference.name))\", which isn't there.",
            fix: fix
        )
    }

    private mutating func fix(forMissing name: String) -> String {
        if FileName.ownFile(name) != nil { return "Give the file another name: every package has this one itself." }
        if let other = index.path(inAnyCase: name) {
            noteMeaning(of: name, other)
            return "There is \"\(other)\"; upper and lower case count."
        }
        if let other = index.path(inAnyFolder: name) {
            noteMeaning(of: name, other)
            return "There is \"\(other)\"; name the file as it lies there, best at the top level."
        }
        // After so many, the names are not just misspelt.
        if absent.count < 20, let near = search.find(name) {
            noteMeaning(of: name, near)
            return "Did you mean \"\(near)\"? Otherwise add the file, or take the member out."
        }
        return "Add the file, or take the member out."
    }

    private mutating func noteMeaning(of name: String, _ path: String) {
        if meant[ExactKey(path)] == nil { meant[ExactKey(path)] = name }
    }

    private mutating func listUnused() {
        let used = Set(used.map { ExactKey($0.path) })
        let strings = Set(index.folders.map { ExactKey($0 + "/order.strings") })
        for path in paths where !used.contains(ExactKey(path)) && !strings.contains(ExactKey(path)) {
            add(
                .warning,
                "file-unused",
                path,
                Self.topLevelPlace(ofStrings: path) == nil
                    ? "Nothing in the order names this file."
                    : "Texts are read from the localization folders at the top level, and from no other place.",
                fix: fix(forUnused: path)
            )
        }
    }

    /// What strings files are called by mistake, best first: in another case, as in passes, as in apps.
    private static let stringsNames = ["order.strings", "pass.strings", "localizable.strings"]

    private static func misnamedStrings(_ paths: [String], _ index: FileNameIndex) -> [ExactKey: String] {
        let lacking = Set(index.folders.lazy.filter { !index.contains($0 + "/order.strings") }.map { ExactKey($0) })
        var best: [ExactKey: (rank: Int, name: String)] = [:]
        for path in lacking.isEmpty ? [] : paths {
            guard let end = path.utf8.firstIndex(of: slash) else { continue }
            let folder = ExactKey(String(path[..<end]))
            let name = String(path[path.utf8.index(after: end)...])
            guard lacking.contains(folder), let rank = stringsNames.firstIndex(where: { name.isCaseless($0) }) else {
                continue
            }
            if best[folder].map({ rank < $0.rank }) ?? true { best[folder] = (rank, name) }
        }
        return best.mapValues(\.name)
    }

    /// Where the texts of a localization folder within a folder would be read; nil for any other path.
    private static func topLevelPlace(ofStrings path: String) -> String? {
        let bytes = path.utf8
        guard let last = bytes.lastIndex(of: slash), path[bytes.index(after: last)...].isExactly("order.strings"),
            let before = bytes[..<last].lastIndex(of: slash)
        else { return nil }
        let folder = path[bytes.index(after: before)..<last]
        return folder.endsExactly(with: ".lproj") ? "\(folder)/order.strings" : nil
    }

    private static let slash = UInt8(ascii: "/")

    private func fix(forUnused path: String) -> String {
        if let name = meant[ExactKey(path)] {
            return "The order most likely means it by \"\(DocumentWalk.shown(name))\": see what is said of that name."
        }
        let strings = ".lproj/order.strings"
        if path.isCaseless("order.strings") {
            return "Put it into the folder of its language, such as en.lproj/order.strings."
        }
        let locale = Substring(path.utf8.dropLast(strings.utf8.count))
        if Substring(path.utf8.suffix(strings.utf8.count)).isCaseless(strings), !locale.utf8.contains(0x2F),
            !index.contains(locale + strings)
        {
            return "Rename it to \(DocumentWalk.shown(locale + strings)); upper and lower case count."
        }
        if let end = path.utf8.firstIndex(of: Self.slash), case let folder = String(path[..<end]),
            misnamedStrings[ExactKey(folder)]?.isExactly(String(path[path.utf8.index(after: end)...])) == true
        {
            return "Rename it to \(DocumentWalk.shown(folder + "/order.strings"))."
        }
        if let place = Self.topLevelPlace(ofStrings: path), !index.contains(place) {
            return "Move it to \(DocumentWalk.shown(place))."
        }
        return "Leave it out: packages are sent whole, each time."
    }

    private mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ pointer: JSONPointer,
        _ message: String,
        fix: String
    ) {
        bounded.append(Finding(severity: severity, code: code, pointer: pointer, message: message, fix: fix))
    }

    private mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ path: String,
        _ message: String,
        fix: String
    ) {
        bounded.append(Finding(severity: severity, code: code, path: path, message: message, fix: fix))
    }
}
