// SPDX-License-Identifier: Apache-2.0

/// One pass over an untrusted archive that compares what streaming readers see (the local headers) with what others
/// see (the directory), and notes every contradiction.
///
/// Apple's devices stream the local headers, most tools read the directory; an archive that says one thing here and
/// another there shows different files to each. Every access is checked, and the work is bounded by the limits.
struct ZipScan {
    private let bytes: [UInt8]
    private let limits: ZipLimits
    private(set) var entries: [ZipEntry] = []
    private(set) var faults: [ZipError] = []
    private(set) var notices: [ZipNotice] = []

    init(_ bytes: [UInt8], limits: ZipLimits) {
        self.bytes = bytes
        self.limits = limits
        scan()
    }

    private struct Directory {
        var records: [DirectoryRecord]
        var start: Int
    }

    private mutating func scan() {
        guard bytes.count <= limits.totalBytes else {
            fault(.tooLarge, "the archive has \(bytes.count) bytes; at most \(limits.totalBytes) are read")
            return
        }
        guard let end = findEnd(), let directory = readDirectory(end: end) else { return }
        for record in directory.records { checkRecord(record) }
        checkNames(directory.records)
        checkSizes(directory.records)
        walkLocalHeaders(directory)
    }

    // MARK: The end record and the directory

    /// The offset of the end record; the last signature counts, as for every common reader.
    private mutating func findEnd() -> Int? {
        let lowest = max(0, bytes.count - ZipRecord.endLength - Int(UInt16.max))
        var position = bytes.count - ZipRecord.endLength
        while position >= lowest {
            if bytes[position] == 0x50, bytes.get32(position) == ZipRecord.endSignature { return position }
            position -= 1
        }
        let isZip = bytes.count >= 4 && bytes.get32(0) == ZipRecord.localSignature
        if isZip {
            fault(.truncated, "the archive has no end record: it is cut off, or not finished")
        } else {
            fault(.notAnArchive, "this is not a zip archive")
        }
        return nil
    }

    private mutating func readDirectory(end: Int) -> Directory? {
        checkEnd(end)
        let count = Int(bytes.get16(end + 10))
        let size = Int(bytes.get32(end + 12))
        let start = Int(bytes.get32(end + 16))
        let locator = end - ZipRecord.zip64LocatorLength
        let hasLocator = locator >= 0 && bytes.get32(locator) == ZipRecord.zip64LocatorSignature
        if hasLocator || count == 0xFFFF || size == 0xFFFF_FFFF || start == 0xFFFF_FFFF {
            fault(.zip64, "the archive is zip64; write it without 64-bit records")
            return nil
        }
        guard count <= limits.entries else {
            fault(.tooManyEntries, "the archive has \(count) entries; at most \(limits.entries) are read")
            return nil
        }
        guard start + size <= end else {
            fault(.truncated, "the directory is said to end at byte \(start + size), past its end record at \(end)")
            return nil
        }
        let offset = end - size - start
        if offset > 0, count > 0, bytes.get32(start + offset) == ZipRecord.directorySignature,
            bytes.get32(offset) == ZipRecord.localSignature
        {
            let isHeader = bytes[..<offset].starts(with: "HTTP/".utf8)
            fault(
                .gap,
                "\(offset) bytes stand in front of the archive, and all its offsets are wrong by them"
                    + (isHeader ? ": an HTTP header was saved with it" : "")
            )
            return nil
        }
        if start + size < end {
            fault(.gap, "\(end - start - size) bytes between the directory and the end record belong to nothing")
        }
        var records: [DirectoryRecord] = []
        var position = start
        while records.count < count {
            guard let record = DirectoryRecord(bytes, at: position, before: start + size) else {
                fault(.malformed, "the directory's record \(records.count + 1) of \(count) can't be read")
                return nil
            }
            records.append(record)
            position += record.length
        }
        if position != start + size {
            fault(.malformed, "the directory has \(start + size - position) bytes more than its \(count) records")
        }
        return Directory(records: records, start: start)
    }

    private mutating func checkEnd(_ end: Int) {
        if bytes.get16(end + 4) != 0 || bytes.get16(end + 6) != 0 {
            fault(.multipleDisks, "the archive is one part of several")
        }
        if bytes.get16(end + 8) != bytes.get16(end + 10) {
            fault(.malformed, "the end record gives two different numbers of entries")
        }
        let comment = Int(bytes.get16(end + 20))
        let rest = bytes.count - end - ZipRecord.endLength
        if comment > rest { fault(.truncated, "the archive's comment is cut off") }
        if comment > 0 { notice(.comment, "the archive has a comment of \(comment) bytes") }
        if comment < rest { fault(.trailingBytes, "\(rest - comment) bytes follow the archive's end") }
    }

    // MARK: Single records

    private mutating func checkRecord(_ record: DirectoryRecord) {
        let name = record.name
        if !record.hasValidName { fault(.badName, name, "the name is not valid UTF-8") }
        if let why = EntryName.fault(name) { fault(.unsafePath, name, why) }
        if record.flags & ZipRecord.utf8Flag == 0, record.nameBytes.contains(where: { $0 >= 0x80 }) {
            notice(.nameEncoding, name, "the name isn't ASCII and not flagged as UTF-8; readers may garble it")
        }
        switch record.fileType {
        case 0, 0o100000: break
        case 0o040000:
            if name.utf8.last != 0x2F {
                fault(.headerMismatch, name, "the entry is a folder by its mode, not by its name")
            }
        case 0o120000: fault(.symlink, name, "the entry is a symbolic link")
        default: fault(.specialFile, name, "the entry is neither a file nor a folder")
        }
        if name.utf8.last == 0x2F {
            notice(.folder, name, "the archive has an entry for the folder itself")
            if record.size != 0 { fault(.headerMismatch, name, "a folder's entry has contents") }
        }
        if isEncrypted(record.flags) { fault(.encrypted, name, "the entry is encrypted") }
        if record.method != ZipRecord.stored, record.method != ZipRecord.deflate {
            fault(.unsupportedMethod, name, "compression method \(record.method); only 0 and 8 are read")
        }
        if record.method == ZipRecord.stored, record.size != record.compressedSize, !isEncrypted(record.flags) {
            fault(.headerMismatch, name, "a stored entry has two different sizes")
        }
        if record.disk != 0 { fault(.multipleDisks, name, "the entry lies in another part of the archive") }
        if record.hasComment { notice(.comment, name, "the entry has a comment") }
        if record.size == .max || record.compressedSize == .max || record.offset == .max {
            fault(.zip64, name, "the entry has 64-bit sizes")
        }
        if hasOtherName(record.extra, than: record.nameBytes) { faultOtherName(name) }
        if ExtraField.identifiers(record.extra).contains(ExtraField.zip64) { noteWideSizes(name) }
    }

    /// Whoever writes before it knows the sizes leaves room for large ones. Ordinary ones stand in their ordinary places.
    private mutating func noteWideSizes(_ name: String) {
        notice(.zip64, name, "the entry has an extra field for 64-bit sizes, which its own don't need")
    }

    /// Whether an extra field gives an entry a name that isn't its own: some readers take that one.
    private func hasOtherName(_ extra: ArraySlice<UInt8>, than name: ArraySlice<UInt8>) -> Bool {
        ExtraField.unicodePaths(extra).contains { $0 != name }
    }

    private mutating func faultOtherName(_ name: String) {
        fault(.alternateName, name, "the entry has a second name in an extra field")
    }

    private mutating func checkNames(_ records: [DirectoryRecord]) {
        var exact: Set<ArraySlice<UInt8>> = []
        // short: longer names take no part.
        var similar: [String: String] = [:]
        for record in records {
            let name = record.name
            guard exact.insert(record.nameBytes).inserted else {
                fault(.duplicateName, name, "the archive has two entries of this name")
                continue
            }
            // No file can have a longer name, and a run of accents costs Swift's comparison the square of its length.
            guard record.nameBytes.count <= EntryName.maximumLength else { continue }
            // Swift compares strings by canonical equivalence, so this finds both cases and Unicode forms.
            if let first = similar.updateValue(name, forKey: name.lowercased()) {
                notice(.similarNames, name, "on many file systems this is the same file as \"\(first)\"")
            }
        }
        checkFolders(records, exact)
    }

    /// A name that is a file's and a folder's: whoever unpacks them loses one of the two.
    private mutating func checkFolders(_ records: [DirectoryRecord], _ names: Set<ArraySlice<UInt8>>) {
        var told: Set<ArraySlice<UInt8>> = []
        for record in records where record.nameBytes.count <= EntryName.maximumLength {
            for slash in record.nameBytes.indices where record.nameBytes[slash] == 0x2F {
                let folder = record.nameBytes[..<slash]
                guard names.contains(folder), told.insert(folder).inserted else { continue }
                fault(.unsafePath, String(decoding: folder, as: UTF8.self), EntryName.alsoFolder(of: record.name))
            }
        }
    }

    private mutating func checkSizes(_ records: [DirectoryRecord]) {
        var total = 0
        // The largest number stands for "see the 64-bit record", which is a fault of its own.
        for record in records where record.size != .max {
            total += Int(record.size)
            if !withinRatio(size: Int(record.size), compressedSize: Int(record.compressedSize)) {
                fault(.ratio, record.name, "the entry unpacks to more than \(limits.ratio) times its size")
            }
        }
        if total > limits.totalBytes {
            fault(.tooLarge, "the entries unpack to \(total) bytes; at most \(limits.totalBytes) are read")
        }
    }

    private func withinRatio(size: Int, compressedSize: Int) -> Bool {
        size <= limits.ratioFloor || size <= compressedSize * limits.ratio
    }

    private func isEncrypted(_ flags: UInt16) -> Bool {
        flags & (ZipRecord.encryptedFlag | ZipRecord.strongEncryptionFlag | ZipRecord.maskedHeadersFlag) != 0
    }

    // MARK: Local headers

    private mutating func walkLocalHeaders(_ directory: Directory) {
        let records = directory.records.enumerated().sorted {
            ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset)
        }
        if records.map(\.offset) != Array(records.indices) {
            notice(.directoryOrder, "the directory lists the entries in another order than they lie in")
        }
        var position = 0
        for (_, record) in records {
            let offset = Int(record.offset)
            if offset < position {
                fault(.overlap, record.name, "the entry starts inside the one before it")
            } else {
                checkGap(from: position, to: min(offset, directory.start), before: record.name)
            }
            guard let end = readLocalHeader(record, before: directory.start) else {
                position = max(position, min(offset, directory.start))
                continue
            }
            position = max(position, end)
        }
        checkGap(from: position, to: directory.start, before: nil)
    }

    private mutating func checkGap(from start: Int, to end: Int, before name: String?) {
        guard end > start else { return }
        let place = name.map { "before \"\($0)\"" } ?? "before the directory"
        if end - start >= 4, bytes.get32(start) == ZipRecord.localSignature {
            fault(.hiddenEntry, "an entry at byte \(start), \(place), isn't in the directory")
        } else {
            fault(.gap, "\(end - start) bytes at \(start), \(place), belong to no entry")
        }
    }

    /// Compares a local header with its directory record and keeps the entry; gives the offset after its data.
    private mutating func readLocalHeader(_ record: DirectoryRecord, before limit: Int) -> Int? {
        let start = Int(record.offset)
        let name = record.name
        guard limit - start >= ZipRecord.localLength else {
            fault(.truncated, name, "the local header lies beyond the entries")
            return nil
        }
        guard bytes.get32(start) == ZipRecord.localSignature else {
            fault(.malformed, name, "there is no local header where the directory says")
            return nil
        }
        let nameStart = start + ZipRecord.localLength
        let extraStart = nameStart + Int(bytes.get16(start + 26))
        let dataStart = extraStart + Int(bytes.get16(start + 28))
        let dataEnd = dataStart + Int(record.compressedSize)
        guard dataEnd <= limit else {
            fault(.truncated, name, "the entry's data ends beyond the entries")
            return nil
        }
        let extra = bytes[extraStart..<dataStart]
        compare(record, at: start, localName: bytes[nameStart..<extraStart], extra)
        // Both sides have it as a rule, and once is enough.
        if hasOtherName(extra, than: record.nameBytes), !hasOtherName(record.extra, than: record.nameBytes) {
            faultOtherName(name)
        }
        if ExtraField.identifiers(extra).contains(ExtraField.zip64),
            !ExtraField.identifiers(record.extra).contains(ExtraField.zip64)
        {
            noteWideSizes(name)
        }
        var end = dataEnd
        if record.flags & ZipRecord.descriptorFlag != 0 {
            notice(.dataDescriptor, name, "the sizes follow the data; a device may pass over such an entry")
            let isWide = ExtraField.identifiers(extra).contains(ExtraField.zip64)
            if let after = descriptorEnd(record, at: dataEnd, before: limit, isWide: isWide) {
                end = after
            } else {
                fault(.headerMismatch, name, "the data descriptor doesn't agree with the directory")
            }
        }
        entries.append(
            ZipEntry(
                name: name,
                method: method(record.method),
                size: Int(record.size),
                compressedSize: Int(record.compressedSize),
                crc32: record.crc32,
                isEncrypted: isEncrypted(record.flags),
                data: dataStart..<dataEnd
            )
        )
        return end
    }

    private mutating func compare(
        _ record: DirectoryRecord,
        at start: Int,
        localName: ArraySlice<UInt8>,
        _ extra: ArraySlice<UInt8>
    ) {
        let name = record.name
        if localName != record.nameBytes {
            let local = String(decoding: localName, as: UTF8.self)
            fault(.headerMismatch, name, "the local header calls it \"\(local)\"")
        }
        var differing: [String] = []
        if bytes.get16(start + 6) != record.flags { differing.append("flags") }
        if bytes.get16(start + 8) != record.method { differing.append("method") }
        // With a data descriptor the local header may leave these at 0.
        let mayBeZero = record.flags & ZipRecord.descriptorFlag != 0
        let wide = ExtraField.wideSizes(extra)
        func differs(_ offset: Int, _ value: UInt32, wide: UInt64? = nil) -> Bool {
            let local = bytes.get32(start + offset)
            // The largest number stands for "see the 64-bit field".
            if local == .max, let wide, wide == UInt64(value) || mayBeZero && wide == 0 { return false }
            return local != value && !(mayBeZero && local == 0)
        }
        if differs(14, record.crc32) { differing.append("checksum") }
        if differs(18, record.compressedSize, wide: wide?.compressedSize) { differing.append("compressed size") }
        if differs(22, record.size, wide: wide?.size) { differing.append("size") }
        if !differing.isEmpty {
            fault(
                .headerMismatch,
                name,
                "the local header and the directory differ in \(differing.joined(separator: ", "))"
            )
        }
        let time = DOSTime(time: bytes.get16(start + 10), date: bytes.get16(start + 12))
        if bytes.get16(start + 4) != record.versionNeeded || time != record.time {
            notice(.headerDetail, name, "the local header has another time or needed version than the directory")
        }
    }

    /// The offset after a data descriptor that agrees with the directory, with or without its signature.
    ///
    /// - Parameter isWide: whether the local header has room for 64-bit sizes; they are as wide here then (APPNOTE 4.3.9.2),
    ///   though some writers keep to 32 bits.
    private func descriptorEnd(
        _ record: DirectoryRecord,
        at start: Int,
        before limit: Int,
        isWide: Bool
    ) -> Int? {
        func end(_ at: Int, wide: Bool) -> Int? {
            let end = at + (wide ? 20 : 12)
            guard end <= limit, bytes.get32(at) == record.crc32, bytes.get32(at + 4) == record.compressedSize else {
                return nil
            }
            if wide, bytes.get32(at + 8) != 0 || bytes.get32(at + 16) != 0 { return nil }
            return bytes.get32(at + (wide ? 12 : 8)) == record.size ? end : nil
        }
        let isSigned = limit - start >= 4 && bytes.get32(start) == ZipRecord.descriptorSignature
        for wide in isWide ? [true, false] : [false] {
            if isSigned, let end = end(start + 4, wide: wide) { return end }
            if let end = end(start, wide: wide) { return end }
        }
        return nil
    }

    private func method(_ number: UInt16) -> ZipEntry.Method {
        switch number {
        case ZipRecord.stored: .stored
        case ZipRecord.deflate: .deflate
        default: .other(number)
        }
    }

    private mutating func fault(_ code: ZipError.Code, _ entry: String, _ message: String) {
        faults.append(ZipError(code, entry: entry, message))
    }

    private mutating func fault(_ code: ZipError.Code, _ message: String) {
        faults.append(ZipError(code, message))
    }

    private mutating func notice(_ code: ZipNotice.Code, _ entry: String, _ message: String) {
        notices.append(ZipNotice(code: code, entry: entry, message: message))
    }

    private mutating func notice(_ code: ZipNotice.Code, _ message: String) {
        notices.append(ZipNotice(code: code, entry: nil, message: message))
    }
}
