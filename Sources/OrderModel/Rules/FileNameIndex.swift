// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The files of a package by the names that an order may give them, made once: how long a look-up takes does not depend on
/// how many files there are.
struct FileNameIndex {
    /// The localization folders, sorted.
    let folders: [String]

    private struct Place: Hashable {
        /// nil: the top level.
        let folder: LookalikeName?
        let name: LookalikeName

        init(folder: String?, name: String) {
            self.folder = folder.map(LookalikeName.init)
            self.name = LookalikeName(name)
        }
    }

    /// The paths that are there, asked for by names that may be written in other bytes.
    private struct Paths {
        private let names: Set<LookalikeName>

        init(_ paths: [String]) { names = Set(paths.map(LookalikeName.init)) }

        func contains(_ path: String) -> Bool { names.contains(LookalikeName(path)) }

        /// The path as it is there.
        func written(_ path: String) -> String? {
            names.firstIndex(of: LookalikeName(path)).map { names[$0].text }
        }
    }

    private let present: Paths
    /// The paths whose name is this but for an ending: `logo` for `logo.png` and `logo@2x.jpg`.
    private var stems: [Place: [String]] = [:]
    /// Which folders have a file that goes by this name.
    private var owners: [LookalikeName: [String]] = [:]
    private var lowered: [LookalikeName: String] = [:]
    /// The first path of each file's name without its folder, in small letters.
    private var loweredNames: [LookalikeName: String] = [:]

    init(_ paths: [String], folders: [String]) {
        self.folders = folders
        present = Paths(paths)
        let known = Set(folders.map(ExactKey.init))
        for path in paths {
            let small = LookalikeName(path.lowercased())
            if lowered[small] == nil { lowered[small] = path }
            let bare = LookalikeName(Self.withoutFolder(path).lowercased())
            if loweredNames[bare] == nil { loweredNames[bare] = path }
            addStem(of: path, in: nil, path)
            guard let slash = path.utf8.firstIndex(of: UInt8(ascii: "/")) else { continue }
            let folder = String(path[..<slash])
            guard known.contains(ExactKey(folder)) else { continue }
            let name = String(path[path.utf8.index(after: slash)...])
            addStem(of: name, in: folder, path)
            let (stem, suffix) = Self.split(name)
            let plain = Self.withoutResolution(stem)
            for form in Set([name, stem, plain, plain + suffix].map(LookalikeName.init)) {
                owners[form, default: []].append(folder)
            }
        }
    }

    private mutating func addStem(of name: String, in folder: String?, _ path: String) {
        let (stem, suffix) = Self.split(name)
        if suffix.isEmpty { return }
        for place in Set([stem, Self.withoutResolution(stem)].map { Place(folder: folder, name: $0) }) {
            stems[place, default: []].append(path)
        }
    }

    /// Whether a path that is there is written in other bytes: Swift takes two ways to write an accent for one.
    func isWrittenOtherwise(_ path: String) -> Bool {
        present.written(path).map { !$0.isExactly(path) } ?? false
    }

    /// Whether a path is there.
    func contains(_ path: String) -> Bool { present.contains(path) }

    /// A path as it is written there.
    func written(_ path: String) -> String { present.written(path) ?? path }

    /// The path that differs in upper and lower case only.
    func path(inAnyCase name: String) -> String? { lowered[LookalikeName(name.lowercased())] }

    /// A path whose file has this name, upper and lower case aside, in whatever folder either is.
    func path(inAnyFolder name: String) -> String? {
        loweredNames[LookalikeName(Self.withoutFolder(name).lowercased())]
    }

    private static func withoutFolder(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The localization folders that have what a reference means, sorted.
    func folders(of reference: FileReference) -> [String] {
        Set((owners[LookalikeName(reference.name)] ?? []).map(ExactKey.init)).sorted().map(\.text).filter {
            !paths(of: reference, in: $0).isEmpty
        }
    }

    /// What a reference means at the top level (nil) or in one folder: the name itself or, of an image, its @2x and @3x
    /// forms too; a name without an image's extension stands for any (the dot of `logo.v2` begins none).
    func paths(of reference: FileReference, in folder: String?) -> [String] {
        let plain = folder.map { "\($0)/\(reference.name)" } ?? reference.name
        if !reference.use.isImage { return present.contains(plain) ? [plain] : [] }
        let (stem, suffix) = Self.split(plain)
        let exact = ["\(stem)\(suffix)", "\(stem)@2x\(suffix)", "\(stem)@3x\(suffix)"].filter(present.contains)
        if !exact.isEmpty || suffix.lowercased().isExactly(oneOf: Self.imageSuffixes) { return exact }
        return stems[Place(folder: folder, name: reference.name)] ?? []
    }

    /// What the names of the images that orders take end in.
    private static let imageSuffixes = [".png", ".jpg", ".jpeg"]

    /// A path before and from the last dot of its name.
    private static func split(_ path: String) -> (stem: String, suffix: String) {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        guard let dot = path.utf8[name...].lastIndex(of: UInt8(ascii: ".")), dot > name else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    private static func withoutResolution(_ stem: String) -> String {
        stem.endsExactly(with: "@2x") || stem.endsExactly(with: "@3x") ? String(Substring(stem.utf8.dropLast(3))) : stem
    }
}
