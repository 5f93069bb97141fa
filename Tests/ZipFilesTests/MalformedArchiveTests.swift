// SPDX-License-Identifier: Apache-2.0

import TestPatience
import Testing
import ZipFiles

@Suite("Malformed archives")
struct MalformedArchiveTests {
    @Test("the archive that the cases start from is good")
    func good() throws {
        let reader = try ZipReader(try Corpus.good())
        #expect(reader.entries.map(\.name) == ["aa/x.txt", "bb/y.txt"])
        #expect(reader.notices.isEmpty)
        #expect(try reader.contents(of: reader.entries[1]) == Array("67890".utf8))
    }

    @Test("each fault is found under its own code", arguments: Corpus.cases)
    func faults(fault: Corpus.Case) throws {
        var bytes = try Corpus.good()
        fault.change(&bytes)
        let (reader, faults) = ZipReader.inspect(bytes)
        #expect(faults.contains { $0.code == fault.code }, "\(faults)")
        #expect(throws: ZipError.self) { try ZipReader(bytes) }
        for entry in reader.entries { _ = try? reader.contents(of: entry) }
    }

    @Test("a wrong checksum on both sides is found when the entry is read")
    func checksum() throws {
        var bytes = try Corpus.good()
        bytes[38] ^= 1
        let reader = try ZipReader(bytes)
        #expect { try reader.contents(of: reader.entries[0]) } throws: { ($0 as? ZipError)?.code == .badChecksum }
    }

    @Test("all faults come in one pass")
    func several() throws {
        var bytes = try Corpus.good()
        Corpus.replace("aa/x.txt", "../x.txt", in: &bytes)
        Corpus.put32(4, at: 14, in: &bytes)
        bytes.append(0)
        let codes = ZipReader.inspect(bytes).faults.map(\.code)
        #expect(Set(codes) == [.trailingBytes, .unsafePath, .headerMismatch])
    }

    @Test("names that differ in case or Unicode form, and a comment, are noticed, not refused")
    func notices() throws {
        var bytes = try archive(
            [("Logo.png", [1]), ("logo.PNG", [2]), ("caf\u{E9}", [3]), ("cafe\u{301}", [4])].dropLast()
        )
        Corpus.put16(2, at: bytes.count - 2, in: &bytes)
        bytes.append(contentsOf: Array("hi".utf8))
        let reader = try ZipReader(bytes)
        #expect(reader.notices.map(\.code) == [.comment, .similarNames])
    }

    @Test("a name that is a file's and a folder's is a fault, told once", arguments: [false, true])
    func fileAndFolder(isFolderFirst: Bool) throws {
        let entries: [(String, [UInt8])] = [("a/b", [1]), ("a-b", [2]), ("a/b/c", [3]), ("a/b/d/e", [4]), ("f/g", [5])]
        let bytes = try archive(isFolderFirst ? entries.reversed() : entries)
        let faults = ZipReader.inspect(bytes).faults
        #expect(faults.map(\.code) == [.unsafePath] && faults.map(\.entry) == ["a/b"], "\(faults)")
        #expect(throws: ZipError.self) { try ZipReader(bytes) }
    }

    @Test("room for 64-bit sizes is noticed where the sizes are ordinary, and refused where they are other ones")
    func wideSizes() throws {
        let plain = try archive([("a", [1, 2, 3])])
        func wide(_ size: UInt8, _ compressedSize: UInt8) -> [UInt8] {
            var bytes = plain
            let field = [1, 0, 16, 0, size, 0, 0, 0, 0, 0, 0, 0, compressedSize, 0, 0, 0, 0, 0, 0, 0]
            Corpus.put32(.max, at: 18, in: &bytes)
            Corpus.put32(.max, at: 22, in: &bytes)
            Corpus.put16(20, at: 28, in: &bytes)
            bytes.insert(contentsOf: field, at: 31)
            let place = bytes.count - 6
            Corpus.put32(UInt32(bytes[place]) + 20, at: place, in: &bytes)
            return bytes
        }
        let reader = try ZipReader(wide(3, 3))
        #expect(reader.notices.map(\.code) == [.zip64])
        #expect(try reader.contents(of: reader.entries[0]) == [1, 2, 3])
        for (size, compressedSize) in [(4, 3), (3, 4)] as [(UInt8, UInt8)] {
            #expect(ZipReader.inspect(wide(size, compressedSize)).faults.map(\.code) == [.headerMismatch])
        }
    }

    /// The entry's parts where it is written to a pipe, with room for 64-bit sizes: the local header says nothing, and the
    /// descriptor behind the data has the sizes in 64 bits each (APPNOTE 4.3.9.2).
    private func streamed(isSigned: Bool = true, size: UInt8 = 3, high: UInt8 = 0) throws -> [UInt8] {
        var bytes = try archive([("a", [1, 2, 3])])
        let record = try #require(ArchiveBytes.records(bytes).first)
        Corpus.put16(1 << 3, at: 6, in: &bytes)
        Corpus.put16(1 << 3, at: record + 8, in: &bytes)
        let checksum = Array(bytes[14..<18])
        Corpus.put32(0, at: 14, in: &bytes)
        Corpus.put32(.max, at: 18, in: &bytes)
        Corpus.put32(.max, at: 22, in: &bytes)
        Corpus.put16(20, at: 28, in: &bytes)
        let descriptor =
            (isSigned ? [0x50, 0x4B, 7, 8] : []) + checksum + [3, 0, 0, 0, 0, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, high]
        bytes.insert(contentsOf: descriptor, at: record)
        bytes.insert(contentsOf: [1, 0, 16, 0] + [UInt8](repeating: 0, count: 16), at: 31)
        Corpus.put32(UInt32(record + descriptor.count + 20), at: bytes.count - 6, in: &bytes)
        return bytes
    }

    @Test("64-bit sizes behind the data are noticed where they agree, and refused where they don't")
    func wideDescriptors() throws {
        for isSigned in [true, false] {
            let reader = try ZipReader(streamed(isSigned: isSigned))
            #expect(Set(reader.notices.map(\.code)) == [.zip64, .dataDescriptor])
            #expect(try reader.contents(of: reader.entries[0]) == [1, 2, 3])
            for wrong in [try streamed(isSigned: isSigned, size: 4), try streamed(isSigned: isSigned, high: 1)] {
                #expect(ZipReader.inspect(wrong).faults.map(\.code).contains(.headerMismatch))
            }
        }
        // Without room in the local header for them there are no 64-bit sizes behind the data.
        var narrow = try streamed()
        Corpus.put16(0x0009, at: 31, in: &narrow)
        #expect(ZipReader.inspect(narrow).faults.map(\.code).contains(.headerMismatch))
    }

    @Test("a second name is told once, and only where it is another one", arguments: [("a", 0), ("b", 1), ("", 1)])
    func secondName(second: String, faults: Int) throws {
        var bytes = try archive([("a", [1, 2, 3])])
        let body = [1, 0, 0, 0, 0] + Array(second.utf8)
        let field = [0x75, 0x70, UInt8(body.count), 0] + body
        let size = UInt16(field.count)
        let record = try #require(ArchiveBytes.records(bytes).first)
        Corpus.put16(size, at: record + 30, in: &bytes)
        bytes.insert(contentsOf: field, at: record + 47)
        Corpus.put16(size, at: 28, in: &bytes)
        bytes.insert(contentsOf: field, at: 31)
        Corpus.put32(UInt32(47 + field.count), at: bytes.count - 10, in: &bytes)
        Corpus.put32(UInt32(record + field.count), at: bytes.count - 6, in: &bytes)
        let found = ZipReader.inspect(bytes).faults
        #expect(found.map(\.code) == Array(repeating: .alternateName, count: faults), "\(found)")
    }

    @Test("a directory in another order than the entries is noticed, and the entries come as they lie")
    func order() throws {
        var bytes = try Corpus.good()
        let records = ArchiveBytes.records(bytes)
        let first = Array(bytes[records[0]..<records[1]])
        let second = Array(bytes[records[1]..<bytes.count - 22])
        bytes.replaceSubrange(records[0]..<bytes.count - 22, with: second + first)
        let reader = try ZipReader(bytes)
        #expect(reader.entries.map(\.name) == ["aa/x.txt", "bb/y.txt"])
        #expect(reader.notices.map(\.code) == [.directoryOrder])
    }
}
