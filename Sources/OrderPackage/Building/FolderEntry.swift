// SPDX-License-Identifier: Apache-2.0

import OrderModel

/// What lies in a folder and can't go into a package.
enum FolderEntry {
    /// So many names are looked at: whoever has more has named another folder than meant.
    static let nameLimit = 10_000

    /// What is said of a folder with more.
    static func tooMany(_ folder: String) -> OrderPackageError {
        OrderPackageError(
            .tooManyFiles,
            path: folder,
            "the folder has more than \(nameLimit) files; at most \(PackageFile.mostFiles) go into a package"
        )
    }

    /// A link, a pipe or a device.
    static func notAFile(_ path: String) -> Finding {
        Finding(
            severity: .error,
            code: "not-a-file",
            path: path,
            message: "This is a link, a pipe or a device.",
            fix: "Put the file itself there."
        )
    }

    /// A name that isn't UTF-8, of which the text is only a likeness, so that nothing is found under it; nil for any other.
    static func badName(_ path: String) -> Finding? {
        guard path.unicodeScalars.contains("\u{FFFD}") else { return nil }
        return Finding(
            severity: .error,
            code: "zip-bad-name",
            path: path,
            message: "The name isn't valid UTF-8.",
            fix: "Write names in UTF-8."
        )
    }
}
