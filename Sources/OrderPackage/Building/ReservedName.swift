// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel

/// Names that are a package's own but for upper and lower case.
enum ReservedName {
    /// The package's own name that a path is on many file systems; nil for the name itself and for any other.
    static func resembled(by path: String) -> String? {
        // No longer name lowers to one of these, and most paths are longer than all.
        guard path.utf8.count <= 16, !path.isExactly(oneOf: PackageFile.reserved) else { return nil }
        let lowered = path.lowercased()
        return PackageFile.reserved.first { $0.isExactly(lowered) }
    }

    static func finding(_ path: String) -> Finding? {
        guard let own = resembled(by: path) else { return nil }
        return Finding(
            severity: .error,
            code: "reserved-name",
            path: path,
            message: "The name differs from the package's own \(own) in upper and lower case only.",
            fix: "Give the file another name, or leave it out."
        )
    }
}
