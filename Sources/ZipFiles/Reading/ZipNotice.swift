// SPDX-License-Identifier: Apache-2.0

/// Something about an archive that doesn't keep it from being read, but that other readers may trip over.
package struct ZipNotice: Hashable, Sendable, CustomStringConvertible {
    /// What was noticed, for a caller to switch on.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// Two names that differ only in case or Unicode form: one file on many file systems.
        case similarNames
        /// Sizes follow the data; a reader that streams can't know them beforehand.
        case dataDescriptor
        /// An entry for a folder.
        case folder
        /// The archive or an entry has a comment.
        case comment
        /// A name that isn't ASCII without the flag that says it is UTF-8.
        case nameEncoding
        /// The directory lists the entries in another order than they lie in.
        case directoryOrder
        /// An entry has an extra field for 64-bit sizes, though its sizes are ordinary.
        case zip64
        /// The local header and the directory differ in what doesn't bear on the contents (time, needed version).
        case headerDetail
    }

    /// What was noticed, for a caller to switch on.
    package let code: Code

    /// The entry that is meant, or nil where it is the archive.
    package let entry: String?

    /// What was noticed, for people.
    package let message: String

    /// The message, with the entry's name in front.
    package var description: String {
        guard let entry else { return message }
        return "\(entry): \(message)"
    }
}
