// SPDX-License-Identifier: Apache-2.0

/// Writes an archive of stored entries whose bytes depend on nothing but names, contents and order.
///
/// Sizes stand in the local headers and there are no data descriptors, extra fields, folders or comments: Apple's
/// devices read an archive from the front and pass over an entry whose size they don't know beforehand.
package struct ZipWriter: Sendable {
    /// Contents up to this size join the headers around them; larger ones become a chunk of their own, uncopied.
    private static let joinedSize = 2_048

    private var chunks: [[UInt8]] = []
    private var joined: [UInt8] = []
    private var directory: [UInt8] = []
    private var names = EntryNames()
    private var offset = 0

    /// An empty archive.
    package init() {
        joined.reserveCapacity(4_096)
        directory.reserveCapacity(1_024)
    }

    /// The archive's size, were it finished now.
    package var byteCount: Int {
        offset + directory.count + ZipRecord.endLength
    }

    /// Adds an entry that was made before.
    ///
    /// - Throws: `.duplicateName`, `.tooManyEntries` from 65,535, `.tooLarge` from 4 GiB.
    package mutating func add(_ entry: StoredEntry) throws(ZipError) {
        let end = offset + entry.localHeader.count + entry.contents.count
        guard end + directory.count + entry.directoryRecord.count < Int(UInt32.max) else {
            throw ZipError(.tooLarge, entry: entry.name, "the archive would have 4 GiB or more")
        }
        guard names.count < Int(UInt16.max) - 1 else {
            throw ZipError(.tooManyEntries, entry: entry.name, "the archive would have more than 65,534 entries")
        }
        guard names.insert(entry.name) else {
            throw ZipError(.duplicateName, entry: entry.name, "the archive has an entry of this name already")
        }
        joined.append(contentsOf: entry.localHeader)
        let record = directory.count
        directory.append(contentsOf: entry.directoryRecord)
        directory.set32(UInt32(offset), at: record + 42)
        if entry.contents.count <= Self.joinedSize {
            joined.append(contentsOf: entry.contents)
        } else {
            chunks.append(joined)
            chunks.append(entry.contents)
            joined = []
        }
        offset = end
    }

    /// Adds a file that is used only here.
    ///
    /// - Throws: as ``StoredEntry/init(name:contents:)`` and ``add(_:)``.
    package mutating func add(name: String, contents: [UInt8]) throws(ZipError) {
        try add(StoredEntry(name: name, contents: contents))
    }

    /// Closes the archive and gives its bytes in order, large contents as they were handed in.
    package consuming func finish() -> [[UInt8]] {
        let end = ZipRecord.end(
            entries: UInt16(names.count),
            directorySize: UInt32(directory.count),
            directoryOffset: UInt32(offset)
        )
        joined.append(contentsOf: directory)
        joined.append(contentsOf: end)
        chunks.append(joined)
        return chunks
    }
}
