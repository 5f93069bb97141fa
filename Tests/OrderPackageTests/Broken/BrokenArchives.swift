// SPDX-License-Identifier: Apache-2.0

import TestPatience

@testable import OrderPackage

extension BrokenPackage {
    private static func edited(
        _ title: String,
        _ expected: [String],
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> BrokenPackage {
        BrokenPackage(title, expected) { $0.edit = edit }
    }

    /// A file that is renamed in the archive is not the one that the manifest lists.
    private static let renamed = ["error file-missing /merchant/logo", "error manifest-file-missing logo.png"]

    /// The container.
    static let archives: [BrokenPackage] = [
        edited("no archive but a page", ["error zip-not-an-archive ."]) { $0 = Array("<html>Not found</html>".utf8) },
        edited("no bytes at all", ["error zip-not-an-archive ."]) { $0 = [] },
        edited("a single byte", ["error zip-not-an-archive ."]) { $0 = [0x50] },
        edited("the end cut off", ["error zip-truncated ."]) { $0.removeLast(30) },
        edited("the second half cut off", ["error zip-truncated ."]) { $0.removeLast($0.count / 2) },
        edited("an archive without entries", ["error package-empty ."]) { $0 = Array($0.suffix(22)).emptied },
        edited("bytes in front of the archive", ["error zip-gap ."]) {
            $0 = Array("HTTP/1.1 200".utf8) + $0
        },
        edited("a line end after the archive", ["error zip-trailing-bytes ."]) { $0.append(0x0A) },
        edited("a comment", ["note zip-comment ."]) { bytes in
            ArchiveEdit.end(20, 2, 2)(&bytes)
            bytes += Array("hi".utf8)
        },
        edited(
            "a comment that is cut off",
            ["error zip-truncated .", "note zip-comment ."],
            ArchiveEdit.end(20, 2, 9)
        ),
        edited(
            "a name that leaves the package",
            renamed + [
                "error manifest-entry-missing ../o.png", "error zip-unsafe-path ../o.png",
            ],
            ArchiveEdit.rename("logo.png", Array("../o.png".utf8))
        ),
        edited(
            "an absolute name",
            renamed + [
                "error manifest-entry-missing /ogo.png", "error zip-unsafe-path /ogo.png",
                "warning file-unused /ogo.png",
            ],
            ArchiveEdit.rename("logo.png", Array("/ogo.png".utf8))
        ),
        edited(
            "a name with a backslash",
            renamed + [
                #"error manifest-entry-missing en\a.png"#, #"error zip-unsafe-path en\a.png"#,
                #"warning file-unused en\a.png"#,
            ],
            ArchiveEdit.rename("logo.png", Array(#"en\a.png"#.utf8))
        ),
        edited(
            "a name that isn't UTF-8",
            renamed + [
                "error manifest-entry-missing logo.pn\u{FFFD}", "error zip-bad-name logo.pn\u{FFFD}",
                "warning file-unused logo.pn\u{FFFD}", "warning zip-name-encoding logo.pn\u{FFFD}",
            ],
            ArchiveEdit.rename("logo.png", Array("logo.pn".utf8) + [0xFF])
        ),
        BrokenPackage(
            "a name that isn't flagged as UTF-8",
            ["warning file-unused é.txt", "warning zip-name-encoding é.txt"]
        ) {
            $0.files.append(("é.txt", [1]))
            $0.edit = ArchiveEdit.both("é.txt", 6, 2, 0)
        },
        edited(
            "a symbolic link",
            ["error zip-symlink logo.png"],
            ArchiveEdit.directory("logo.png", 38, 4, 0o120777 << 16)
        ),
        edited(
            "a device",
            ["error zip-special-file logo.png"],
            ArchiveEdit.directory("logo.png", 38, 4, 0o020644 << 16)
        ),
        edited(
            "a folder by its mode",
            ["error zip-header-mismatch logo.png"],
            ArchiveEdit.directory("logo.png", 38, 4, 0o040755 << 16)
        ),
        BrokenPackage("two entries of one name", ["error zip-duplicate-name logo.png"]) {
            let listed = $0.honestManifest()
            $0.manifest = listed
            $0.files.append(("logo.pnG", Fixtures.png(70)))
            $0.edit = ArchiveEdit.rename("logo.pnG", Array("logo.png".utf8))
        },
        BrokenPackage(
            "a file with the name of a folder",
            ["error zip-unsafe-path logo.png", "warning file-unused logo.png/a.png"]
        ) {
            $0.files.append(("logo.png/a.png", Fixtures.png(70)))
        },
        BrokenPackage(
            "a file with the name of a language's folder",
            ["error zip-unsafe-path EN.lproj", "warning file-unused EN.lproj"]
        ) {
            $0.files.append(("EN.lproj", Fixtures.png(70)))
        },
        BrokenPackage(
            "names that differ in case",
            ["warning file-unused LOGO.png", "warning zip-similar-names LOGO.png"]
        ) {
            $0.files.append(("LOGO.png", Fixtures.png(70)))
        },
        edited(
            "another name in the local header",
            ["error zip-header-mismatch logo.png"],
            ArchiveEdit.header("logo.png", 30, 1, 0x4C)
        ),
        edited(
            "another size in the local header",
            ["error zip-header-mismatch logo.png"],
            ArchiveEdit.header("logo.png", 22, 4, 1)
        ),
        edited(
            "another checksum in the local header",
            ["error zip-header-mismatch logo.png"],
            ArchiveEdit.header("logo.png", 14, 4, 1)
        ),
        edited(
            "another method in the local header",
            ["error zip-header-mismatch logo.png"],
            ArchiveEdit.header("logo.png", 8, 2, 8)
        ),
        edited(
            "another time in the local header",
            ["warning zip-header-detail logo.png"],
            ArchiveEdit.header("logo.png", 10, 2, 7)
        ),
        edited("an encrypted entry", ["error zip-encrypted logo.png"], ArchiveEdit.both("logo.png", 6, 2, 1)),
        edited(
            "another method of compression",
            ["error zip-unsupported-method logo.png"],
            ArchiveEdit.both("logo.png", 8, 2, 12)
        ),
        edited(
            "a wrong checksum on both sides",
            ["error zip-bad-checksum logo.png"],
            ArchiveEdit.both("logo.png", 14, 4, 1)
        ),
        edited(
            "compressed data that is none",
            ["error zip-bad-data logo.png"],
            ArchiveEdit.both("logo.png", 8, 2, 8)
        ),
        edited("a 64-bit size", ["error zip-header-mismatch logo.png", "error zip-zip64 logo.png"]) {
            ArchiveEdit.both("logo.png", 22, 4, 0xFFFF_FFFF)(&$0)
        },
        edited("a 64-bit extra field", ["warning zip-zip64 signature"], ArchiveEdit.extraField([1, 0, 0, 0])),
        edited(
            "a second name in an extra field",
            ["error zip-alternate-name signature"],
            ArchiveEdit.extraField([0x75, 0x70, 0, 0])
        ),
        edited("one part of several", ["error zip-multiple-disks ."], ArchiveEdit.end(4, 2, 1)),
        edited("two counts of entries", ["error zip-malformed ."], ArchiveEdit.end(8, 2, 3)),
        edited("bytes between the entries", ["error zip-gap ."], ArchiveEdit.insertBeforeDirectory([1, 2, 3])),
        edited("an entry that the directory lacks", ["error zip-hidden-entry ."]) { bytes in
            let start = ArchiveEdit.local("logo.png", bytes)
            let hidden = Array(bytes[start..<ArchiveEdit.local("signature", bytes)])
            ArchiveEdit.insertBeforeDirectory(hidden)(&bytes)
        },
        edited(
            "two entries in one place",
            [
                "error zip-header-mismatch logo.png", "error zip-header-mismatch logo.png",
                "error zip-hidden-entry .", "error zip-overlap logo.png",
            ]
        ) { bytes in
            let place = ArchiveEdit.local("order.json", bytes)
            ArchiveEdit.directory("logo.png", 42, 4, place)(&bytes)
        },
        edited(
            "a descriptor that isn't there",
            ["error zip-header-mismatch logo.png", "warning zip-data-descriptor logo.png"]
        ) {
            ArchiveEdit.both("logo.png", 6, 2, 8)(&$0)
        },
        edited("the directory in another order", ["note zip-directory-order ."]) { bytes in
            let records = ArchiveBytes.records(bytes)
            let first = Array(bytes[records[0]..<records[1]])
            bytes.insert(contentsOf: first, at: bytes.count - 22)
            bytes.removeSubrange(records[0]..<records[1])
        },
        BrokenPackage("200 entries", (0..<100).map { "warning stray-file \($0).bak" } + ["note more-findings ."]) {
            parts in
            for index in 0..<196 { parts.files.append(("\(index).bak", [1])) }
        },
        BrokenPackage("201 entries", ["error zip-too-many-entries ."]) { parts in
            for index in 0..<197 { parts.files.append(("\(index).txt", [1])) }
        },
        BrokenPackage("5 MB", ["error package-too-large .", "warning file-unused a.png"]) {
            $0.files.append(("a.png", Fixtures.png(5_000_000)))
        },
        BrokenPackage("nearly 10 MB", ["error package-too-large .", "warning file-unused a.txt"]) {
            $0.files.append(("a.txt", [UInt8](repeating: 1, count: 9_990_000)))
        },
        BrokenPackage("10 MB", ["error package-too-large .", "error zip-too-large ."]) {
            $0.files.append(("a.txt", [UInt8](repeating: 1, count: 10_000_001)))
        },
        edited("an entry that says it unpacks to a hundred times its size", ["error zip-ratio logo.png"]) { bytes in
            ArchiveEdit.both("logo.png", 8, 2, 8)(&bytes)
            ArchiveEdit.both("logo.png", 22, 4, 1_000_000)(&bytes)
        },
        edited("an entry that says it unpacks to 4 GB", ["error zip-ratio logo.png", "error zip-too-large ."]) {
            bytes in
            ArchiveEdit.both("logo.png", 8, 2, 8)(&bytes)
            ArchiveEdit.both("logo.png", 22, 4, 0xF000_0000)(&bytes)
        },
    ]
}

extension [UInt8] {
    /// An end record that counts nothing.
    fileprivate var emptied: [UInt8] { [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18) }
}
