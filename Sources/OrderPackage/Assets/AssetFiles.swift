// SPDX-License-Identifier: Apache-2.0

import ServiceRuntime

/// The files that an asset was made into, by path: the same images go into one package after the other, under the same
/// names.
final class AssetFiles: Sendable {
    /// Nearly every image has one name.
    private static let limit = 4
    private let made = Locked<[PackageFile]>([])

    /// The file at a path, byte for byte, when it was made before.
    func file(_ path: String) -> PackageFile? {
        made.withLock { files in
            files.first { $0.path.utf8.elementsEqual(path.utf8) }
        }
    }

    /// Remembers a file; when there are too many, the others are forgotten.
    func insert(_ file: PackageFile) {
        made.withLock { files in
            if files.count >= Self.limit { files.removeAll(keepingCapacity: true) }
            files.append(file)
        }
    }
}
