// SPDX-License-Identifier: Apache-2.0

import Testing
import ZipFiles

/// Bytes that no compressor would shorten, the same in each run.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}

/// An archive of the given files as one byte array.
func archive(_ files: [(String, [UInt8])]) throws -> [UInt8] {
    var writer = ZipWriter()
    for (name, contents) in files { try writer.add(name: name, contents: contents) }
    return writer.finish().flatMap(\.self)
}

@Suite("Zip writer")
struct ZipWriterTests {
    let files: [(String, [UInt8])] = [
        ("order.json", Array(#"{"a":1}"#.utf8)), ("logo.png", noise(20_000)), ("en.lproj/order.strings", noise(300)),
        ("größe.png", noise(5_000)), ("manifest.json", Array("{}".utf8)), ("signature", noise(2_257)),
    ]

    @Test("unzip finds no fault")
    func unzip() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(try archive(files), to: "a.zip")
        let result = try shell("unzip -t \(file)")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("No errors detected"))
    }

    @Test("Python reads the same files back, with mode 0644 and no flags on ASCII names")
    func python() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(try archive(files), to: "a.zip")
        for (index, file) in files.enumerated() { try folder.write(file.1, to: "\(index)") }
        try folder.write(
            Array(
                """
                import sys, zipfile
                z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
                for i, e in enumerate(z.infolist()):
                    assert z.read(e) == open(sys.argv[2] + '/' + str(i), 'rb').read(), e
                    assert e.external_attr == 0o100644 << 16 and e.compress_type == 0 and e.extra == b'', e
                    assert e.flag_bits == (0 if e.filename.isascii() else 0x800), e
                    assert e.date_time == (1980, 1, 1, 0, 0, 0), e.date_time
                print(' '.join(z.namelist()))
                """.utf8
            ),
            to: "check.py"
        )
        let result = try shell("python3 \(folder.path)/check.py \(file) \(folder.path)")
        #expect(result.status == 0)
        #expect(result.output == files.map(\.0).joined(separator: " ") + "\n")
    }

    @Test("an empty archive is an archive")
    func empty() throws {
        let bytes = try archive([])
        #expect(bytes.count == 22)
        #expect(try ZipReader(bytes).entries.isEmpty)
    }

    @Test("the same files give the same bytes, from ready-made entries too, and byteCount tells their number")
    func deterministic() throws {
        let first = try archive(files)
        var writer = ZipWriter()
        for (name, contents) in files { try writer.add(StoredEntry(name: name, contents: contents)) }
        #expect(writer.byteCount == first.count)
        let again = writer.finish()
        #expect(again.flatMap(\.self) == first)
    }

    @Test("a large file's bytes are handed on, not copied")
    func notCopied() throws {
        let image = noise(20_000)
        let entry = try StoredEntry(name: "logo.png", contents: image)
        var writer = ZipWriter()
        try writer.add(entry)
        let chunks = writer.finish()
        func address(_ bytes: [UInt8]) -> UInt { unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        let found = chunks.contains { address($0) == address(image) }
        #expect(found)
        #expect(chunks.count == 3)
    }

    @Test(
        "names that could leave the folder or be read in two ways are refused",
        arguments: [
            "", "/a", "a//b", "../a", "a/../b", "a/..", "./a", "a/.", "a\\b", "C:a", "C:/a", "a\0b", "a\nb", "a/", "..",
            ".",
            String(repeating: "a", count: 256),
        ]
    )
    func badNames(name: String) {
        #expect { try StoredEntry(name: name, contents: []) } throws: { ($0 as? ZipError)?.code == .unsafePath }
    }

    @Test(
        "ordinary names are taken",
        arguments: ["a", "logo@2x.png", "zh-Hans.lproj/order.strings", "...a", "a..b", "日本.png"]
    )
    func goodNames(name: String) throws {
        #expect(try StoredEntry(name: name, contents: [1]).name == name)
    }

    @Test("a second entry of a name is refused, also in another Unicode form")
    func duplicates() throws {
        var writer = ZipWriter()
        try writer.add(name: "caf\u{E9}", contents: [])
        #expect(throws: ZipError.self) { try writer.add(name: "caf\u{E9}", contents: []) }
        #expect { try writer.add(name: "cafe\u{301}", contents: []) } throws: {
            ($0 as? ZipError)?.code == .duplicateName
        }
    }
}
