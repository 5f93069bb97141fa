// SPDX-License-Identifier: Apache-2.0

/// How a file's path answers to the name that a document refers to.
///
/// A document says `logo.png` or `logo`; the files that serve it are `logo.png`, its resolutions `logo@2x.png` and
/// `logo@3x.png`, and all of these in language folders (spec 1.7).
struct FileName: Sendable {
    /// Without folder and resolution.
    let plain: String
    /// Without folder, resolution and extension.
    let stem: String

    init(_ path: String) {
        let base = path.split(separator: "/").last.map(String.init) ?? path
        let name: Substring
        let end: Substring
        if let dot = base.lastIndex(of: "."), dot != base.startIndex {
            name = base[..<dot]
            end = base[dot...]
        } else {
            name = base[...]
            end = ""
        }
        // short: a PackagePath, ASCII of 100 bytes at most.
        let bare = name.hasSuffix("@2x") || name.hasSuffix("@3x") ? name.dropLast(3) : name
        self.plain = String(bare + end)
        self.stem = String(bare)
    }

    /// Whether a file of this name serves a document's reference.
    func serves(_ reference: String) -> Bool {
        plain == reference || stem == reference || plain == FileName(reference).plain
    }
}
