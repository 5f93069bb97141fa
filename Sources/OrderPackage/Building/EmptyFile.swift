// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel

/// Files without contents.
enum EmptyFile {
    static func finding(_ path: String) -> Finding {
        Finding(
            severity: .error,
            code: "empty-file",
            path: path,
            message: "The file is empty, and devices pass over it.",
            fix: ArchiveCheck.sentence(cure(path))
        )
    }

    /// What to do about one: who leaves out what is needed would next be told that it isn't there.
    static func cure(_ path: String) -> String {
        if path.isExactly(oneOf: PackageFile.reserved) { return "write its contents: every package has this file" }
        if path.endsExactly(with: ".lproj/order.strings") {
            return "write the texts into it, with the keys of the other languages, or leave its whole folder out"
        }
        return "put the file itself there, or leave it out if the order doesn't name it"
    }
}
