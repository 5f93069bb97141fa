// SPDX-License-Identifier: Apache-2.0

/// The files of a package by the names that an order may give them, made once: how long a look-up takes does not depend on
/// how many files there are.
struct FileNameIndex {
    /// The localization folders, sorted.
    let folders: [String]

    private struct Place: Hashable {
        /// nil: the top level.
        let folder: String?
        let name: String
    }

    private let present: Set<String>
    /// The paths whose name is this but for an ending: `logo` for `logo.png` and `logo@2x.jpg`.
    private var stems: [Place: [String]] = [:]
    /// Which folders have a file that goes by this name.
    private var owners: [String: [String]] = [:]
    private var lowered: [String: String] = [:]

    init(_ paths: [String], folders: [String]) {
        self.folders = folders
        present = Set(paths)
        let known = Set(folders)
        for path in paths {
            lowered[path.lowercased()] = lowered[path.lowercased()] ?? path
            addStem(of: path, in: nil, path)
            guard let slash = path.firstIndex(of: "/"), known.contains(String(path[..<slash])) else { continue }
            let folder = String(path[..<slash])
            let name = String(path[path.index(after: slash)...])
            addStem(of: name, in: folder, path)
            let (stem, suffix) = Self.split(name)
            let plain = Self.withoutResolution(stem)
            for form in Set([name, stem, plain, plain + suffix]) { owners[form, default: []].append(folder) }
        }
    }

    private mutating func addStem(of name: String, in folder: String?, _ path: String) {
        let (stem, suffix) = Self.split(name)
        if suffix.isEmpty { return }
        for form in Set([stem, Self.withoutResolution(stem)]) {
            stems[Place(folder: folder, name: form), default: []].append(path)
        }
    }

    /// Whether a path that is there is written in other bytes: Swift takes two ways to write an accent for one.
    func isWrittenOtherwise(_ path: String) -> Bool {
        guard let index = present.firstIndex(of: path) else { return false }
        return !present[index].utf8.elementsEqual(path.utf8)
    }

    /// The path that differs in upper and lower case only.
    func path(inAnyCase name: String) -> String? { lowered[name.lowercased()] }

    /// The localization folders that have what a reference means, sorted.
    func folders(of reference: FileReference) -> [String] {
        Set(owners[reference.name] ?? []).sorted().filter { !paths(of: reference, in: $0).isEmpty }
    }

    /// What a reference means at the top level (nil) or in one folder: the name itself or, of an image, its @2x and @3x
    /// forms too; a name without an image's extension stands for any (the dot of `logo.v2` begins none).
    func paths(of reference: FileReference, in folder: String?) -> [String] {
        let plain = folder.map { "\($0)/\(reference.name)" } ?? reference.name
        if !reference.use.isImage { return present.contains(plain) ? [plain] : [] }
        let (stem, suffix) = Self.split(plain)
        let exact = ["\(stem)\(suffix)", "\(stem)@2x\(suffix)", "\(stem)@3x\(suffix)"].filter(present.contains)
        if !exact.isEmpty || Self.imageSuffixes.contains(suffix.lowercased()) { return exact }
        return stems[Place(folder: folder, name: reference.name)] ?? []
    }

    /// What the names of the images that orders take end in.
    private static let imageSuffixes: Set = [".png", ".jpg", ".jpeg"]

    /// A path before and from the last dot of its name.
    private static func split(_ path: String) -> (stem: String, suffix: String) {
        let name = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    private static func withoutResolution(_ stem: String) -> String {
        stem.hasSuffix("@2x") || stem.hasSuffix("@3x") ? String(stem.dropLast(3)) : stem
    }
}
