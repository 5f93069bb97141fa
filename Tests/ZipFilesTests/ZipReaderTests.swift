// SPDX-License-Identifier: Apache-2.0

import TestPatience
import Testing
import ZipFiles

@Suite("Zip reader")
struct ZipReaderTests {
    @Test("Python's archives are read back: stored, deflated, with data descriptors of either width")
    func python() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                import os, sys, zipfile
                d = sys.argv[1]
                class Pipe:
                    def __init__(self, f): self.f = f
                    def write(self, b): return self.f.write(b)
                    def flush(self): self.f.flush()
                text = b'hello ' * 500
                for name, method in (('stored', 0), ('deflated', 8)):
                    with zipfile.ZipFile(f'{d}/{name}.zip', 'w', method) as z:
                        z.writestr('a.txt', text); z.writestr('b/c.bin', bytes(range(256)))
                        z.writestr('empty', b'')
                    with zipfile.ZipFile(Pipe(open(f'{d}/{name}-streamed.zip', 'wb')), 'w', method) as z:
                        z.writestr('a.txt', text); z.writestr('b/c.bin', bytes(range(256)))
                        z.writestr('empty', b'')
                    with zipfile.ZipFile(Pipe(open(f'{d}/{name}-wide.zip', 'wb')), 'w', method) as z:
                        for entry, data in (('a.txt', text), ('b/c.bin', bytes(range(256))), ('empty', b'')):
                            with z.open(entry, 'w', force_zip64=True) as f: f.write(data)
                """.utf8
            ),
            to: "make.py"
        )
        let made = try shell("python3 \(folder.path)/make.py \(folder.path)")
        #expect(made.status == 0, "\(made.output)")
        let text = Array(String(repeating: "hello ", count: 500).utf8)
        let names = ["stored", "deflated"].flatMap { [$0, $0 + "-streamed", $0 + "-wide"] }
        for name in names {
            let reader = try ZipReader(try folder.read("\(name).zip"))
            #expect(reader.entries.map(\.name) == ["a.txt", "b/c.bin", "empty"])
            let contents = try reader.entries.map { try reader.contents(of: $0) }
            #expect(contents == [text, (0...255).map { UInt8($0) }, []])
            let streamed = name.contains("-")
            #expect(reader.notices.contains { $0.code == .dataDescriptor } == streamed, "\(reader.notices)")
            #expect(reader.notices.contains { $0.code == .zip64 } == name.hasSuffix("wide"), "\(reader.notices)")
        }
    }

    @Test("an archive of Info-ZIP with folders and extra fields is read")
    func infoZip() throws {
        let folder = try TemporaryFolder()
        let made = try shell("cd \(folder.path) && mkdir -p d/e && echo hi > d/e/f && zip -qr a.zip d")
        #expect(made.status == 0, "\(made.output)")
        let reader = try ZipReader(try folder.read("a.zip"))
        #expect(reader.entries.map(\.name) == ["d/", "d/e/", "d/e/f"])
        #expect(try reader.contents(of: reader.entries[2]) == Array("hi\n".utf8))
        #expect(Set(reader.notices.map(\.code)) == [.folder])
    }

    @Test("a zip bomb is refused before it is unpacked")
    func bomb() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                import sys, zipfile
                with zipfile.ZipFile(sys.argv[1] + '/bomb.zip', 'w', 8) as z: z.writestr('a', bytes(40 << 20))
                with zipfile.ZipFile(sys.argv[1] + '/sum.zip', 'w', 0) as z:
                    for i in range(60): z.writestr(str(i), bytes(1 << 20))
                with zipfile.ZipFile(sys.argv[1] + '/many.zip', 'w', 0) as z:
                    for i in range(201): z.writestr(str(i), b'')
                """.utf8
            ),
            to: "make.py"
        )
        #expect(try shell("python3 \(folder.path)/make.py \(folder.path)").status == 0)
        let bomb = try folder.read("bomb.zip")
        let spent = try Patience.processorTime {
            #expect { try ZipReader(bomb) } throws: { ($0 as? ZipError)?.code == .ratio }
            let (reader, _) = ZipReader.inspect(bomb)
            let entry = try #require(reader.entries.first)
            #expect { try reader.contents(of: entry) } throws: { ($0 as? ZipError)?.code == .ratio }
        }
        #expect(spent < .milliseconds(500) * Patience.factor)
        let sum = try folder.read("sum.zip")
        #expect { try ZipReader(sum) } throws: { ($0 as? ZipError)?.code == .tooLarge }
        var wider = ZipLimits.standard
        wider.totalBytes = 70 << 20
        #expect(try ZipReader(sum, limits: wider).entries.count == 60)
        let many = try folder.read("many.zip")
        #expect { try ZipReader(many) } throws: { ($0 as? ZipError)?.code == .tooManyEntries }
    }

    @Test("an entry that unpacks to more or less than recorded is refused while it is unpacked")
    func lyingSize() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                import sys, zipfile
                with zipfile.ZipFile(sys.argv[1] + '/a.zip', 'w', 8) as z: z.writestr('a', b'0123456789' * 300)
                """.utf8
            ),
            to: "make.py"
        )
        #expect(try shell("python3 \(folder.path)/make.py \(folder.path)").status == 0)
        let bytes = try folder.read("a.zip")
        let directory = try #require(ArchiveBytes.records(bytes).first)
        for size in [0, 10, 2_999, 3_001, 4_000] as [UInt32] {
            var changed = bytes
            Corpus.put32(size, at: 22, in: &changed)
            Corpus.put32(size, at: directory + 24, in: &changed)
            let reader = try ZipReader(changed)
            #expect(throws: ZipError.self) { try reader.contents(of: reader.entries[0]) }
        }
        var damaged = bytes
        damaged[40] ^= 0x55
        let reader = try ZipReader(damaged)
        #expect(throws: ZipError.self) { try reader.contents(of: reader.entries[0]) }
    }

    @Test("a flipped bit anywhere in an archive of ours is noticed, but for four fields nobody reads")
    func flips() throws {
        let bytes = try archive([
            ("order.json", noise(40)), ("b/logo.png", noise(60, seed: 2)), ("signature", noise(30)),
        ])
        let directory = try #require(ArchiveBytes.records(bytes).first)
        // Version made by, and internal and external attributes, bear on nothing.
        let ignored = Set(
            ArchiveBytes.records(bytes).flatMap { start in
                [4, 5, 36, 37, 38, 39, 40, 41].map { start + $0 }
            }
        )
        #expect(ignored.count == 24 && ignored.allSatisfy { $0 > directory })
        for index in bytes.indices where !ignored.contains(index) {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                let (reader, faults) = ZipReader.inspect(changed)
                let broken = reader.entries.contains { (try? reader.contents(of: $0)) == nil }
                let noticed = !faults.isEmpty || broken || !reader.notices.isEmpty
                #expect(noticed, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("no cut and no random damage makes it trap")
    func robustness() throws {
        let bytes = try archive([("order.json", noise(400)), ("b/logo.png", noise(600)), ("signature", noise(300))])
        for length in bytes.indices {
            let (_, faults) = ZipReader.inspect(Array(bytes[..<length]))
            #expect(!faults.isEmpty)
        }
        var state: UInt64 = 7
        for _ in 0..<5_000 {
            var changed = bytes
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                changed[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            let (reader, _) = ZipReader.inspect(changed)
            for entry in reader.entries { _ = try? reader.contents(of: entry) }
        }
    }
}
