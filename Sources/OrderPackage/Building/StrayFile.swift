// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel

/// Files that systems and editors leave behind and that travel to customers by mistake.
enum StrayFile {
    /// Whether a path is one: hidden files, Finder's and editors' leftovers.
    static func matches(_ path: String) -> Bool { hasPart(path, where: isLeftover) }

    /// Whether a path, or a folder in it, is hidden.
    static func isHidden(_ path: String) -> Bool { hasPart(path) { $0[0] == dot } }

    /// Whether a condition holds for a component of a path. Goes by bytes: to file systems an accent behind a slash or a dot
    /// makes no other character of it.
    private static func hasPart(_ path: String, where condition: (borrowing Span<UInt8>) -> Bool) -> Bool {
        let bytes = path.utf8.span
        var start = 0
        for index in 0...bytes.count where index == bytes.count || bytes[index] == slash {
            if index > start, condition(bytes.extracting(start..<index)) { return true }
            start = index + 1
        }
        return false
    }

    private static func isLeftover(_ part: borrowing Span<UInt8>) -> Bool {
        if part[0] == dot || part[0] == hash && part[part.count - 1] == hash { return true }
        for name in names where name.count == part.count && ends(part, with: name) { return true }
        for ending in endings where ends(part, with: ending) { return true }
        return false
    }

    private static func ends(_ part: borrowing Span<UInt8>, with ending: [UInt8]) -> Bool {
        let start = part.count - ending.count
        guard start >= 0 else { return false }
        for index in ending.indices where part[start + index] != ending[index] { return false }
        return true
    }

    /// The paths that an order names all the same, as it names them or localized, as they are or in another resolution: they
    /// are files like any other. `.DS_Store` never is: devices don't unpack it.
    static func named(by order: JSONValue, among paths: some Sequence<String>) -> Set<ExactKey> {
        let strays = paths.filter(matches)
        guard !strays.isEmpty else { return [] }
        let names = Set(exactly: FileReference.all(in: order).lazy.map(\.name))
        return Set(
            exactly: strays.lazy.filter { path in
                !isFinders(path)
                    && places(path).contains { place in
                        let plain = place.replacingExactly("@2x.", with: ".").replacingExactly("@3x.", with: ".")
                        return names.contains(ExactKey(place)) || names.contains(ExactKey(plain))
                    }
            }
        )
    }

    /// Whether a path is that of Finder's own notes about a folder.
    static func isFinders(_ path: String) -> Bool {
        path.isExactly(".DS_Store") || path.endsExactly(with: "/.DS_Store")
    }

    /// Whether an order names a file in a folder, as it names it or localized.
    static func isNamed(folder: String, by order: JSONValue) -> Bool {
        let places = places(folder)
        return FileReference.all(in: order).contains { reference in
            places.contains { reference.name.beginsExactly(with: $0 + "/") }
        }
    }

    /// A path as the order may name it: as it is, and without its localization folder.
    private static func places(_ path: String) -> [String] {
        guard let slash = path.utf8.firstIndex(of: UInt8(ascii: "/")) else { return [path] }
        let folder = path[..<slash]
        guard folder.endsExactly(with: ".lproj"), !matches(String(folder)) else { return [path] }
        return [path, String(Substring(path.utf8[slash...].dropFirst()))]
    }

    private static let dot = UInt8(ascii: ".")
    private static let slash = UInt8(ascii: "/")
    private static let hash = UInt8(ascii: "#")
    private static let names = ["__MACOSX", "Thumbs.db", "desktop.ini"].map { Array($0.utf8) }
    private static let endings = [".swp", ".swo", ".bak", ".tmp", "~"].map { Array($0.utf8) }
}
