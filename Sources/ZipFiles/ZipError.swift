// SPDX-License-Identifier: Apache-2.0

/// A fault of a zip archive, or of what was about to be written into one.
///
/// The same type serves for what stops reading (thrown) and for the list that ``ZipReader/inspect(_:limits:)``
/// gives, so that a verifier can name every fault of an archive in one pass.
package struct ZipError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for a caller to switch on.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// No end record: not a zip archive at all.
        case notAnArchive
        /// A record or an entry's data ends beyond the archive's end.
        case truncated
        /// A record doesn't start with its signature, or its counts contradict each other.
        case malformed
        /// Two entries have the same name; which of them a reader takes is anyone's guess.
        case duplicateName
        /// A name that leaves the folder it is unpacked into, or that systems read differently.
        case unsafePath
        /// A name that isn't valid UTF-8.
        case badName
        /// An entry is a symbolic link.
        case symlink
        /// An entry is neither a regular file nor a folder (device, pipe, socket).
        case specialFile
        /// The local header and the directory contradict each other, or an entry's size its own data.
        case headerMismatch
        /// A second name or size is hidden in an extra field.
        case alternateName
        /// Two entries share bytes.
        case overlap
        /// Bytes between the entries that belong to none.
        case gap
        /// Bytes after the archive's end.
        case trailingBytes
        /// A local header that the directory doesn't list: readers that stream see it, others don't.
        case hiddenEntry
        /// More entries than the limits allow.
        case tooManyEntries
        /// More bytes than the limits or the format allow.
        case tooLarge
        /// An entry that unpacks to far more than it holds, as in a zip bomb.
        case ratio
        /// An encrypted entry.
        case encrypted
        /// A compression method other than stored and deflate.
        case unsupportedMethod
        /// Zip64 records, or sizes that only these tell, which order packages never need.
        case zip64
        /// An archive of several parts.
        case multipleDisks
        /// The unpacked bytes don't have the recorded CRC-32.
        case badChecksum
        /// The compressed data can't be unpacked.
        case badData
    }

    /// What is wrong, for a caller to switch on.
    package let code: Code

    /// The entry that is meant, or nil where the fault is the archive's.
    package let entry: String?

    /// What is wrong and where, for people.
    package let message: String

    /// An error about one entry, or about the archive when `entry` is nil.
    package init(_ code: Code, entry: String? = nil, _ message: String) {
        self.code = code
        self.entry = entry
        self.message = message
    }

    /// The message, with the entry's name in front.
    package var description: String {
        guard let entry else { return message }
        return "\(entry): \(message)"
    }
}
