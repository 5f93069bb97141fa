// SPDX-License-Identifier: Apache-2.0

import OrderModel

/// What lies in a folder and can't go into a package.
enum FolderEntry {
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
