// SPDX-License-Identifier: Apache-2.0

import OrderModel
import Testing

@testable import OrderPackage

@Suite("Images")
struct ImageTests {
    @Test("sizes and opacity are read from the headers")
    func properties() throws {
        for (file, width, height, isOpaque) in [
            (Picture.png(300, 300), 300, 300, true), (Picture.png(1, 10_000, colour: 6), 1, 10_000, false),
            (Picture.png(640, 480, colour: 4, depth: 16), 640, 480, false), (Picture.png(3, 2, colour: 0), 3, 2, true),
            (Picture.png(3, 2, colour: 3, chunks: [("PLTE", [0, 0, 0]), ("IDAT", [0])]), 3, 2, true),
            (Picture.png(3, 2, colour: 3, chunks: [("tRNS", [0]), ("IDAT", [0])]), 3, 2, false),
            (Picture.jpeg(1_280, 720), 1_280, 720, true), (Picture.jpeg(300, 301, frame: 0xC2), 300, 301, true),
        ] {
            let image = try ImageProperties(file)
            #expect(image.width == width && image.height == height && image.isOpaque == isOpaque, "\(image)")
            #expect(try Asset(file).image == image)
        }
        #expect(try Asset(Array("%PDF-1.7".utf8)).image == nil)
    }

    @Test("a picture made by another program is read as that program reads it")
    func foreign() async throws {
        let folder = try TemporaryFolder()
        // zlib and struct are all that a PNG takes.
        let made = try await shell(
            """
            cd \(folder.path) && python3 - <<'END'
            import struct, zlib
            def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            rows = b"".join(b"\\0" + bytes(7 * 3) for _ in range(5))
            open("a.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
            END

            """
        )
        #expect(made.status == 0, "\(made.output)")
        let image = try ImageProperties(try contents(folder, "a.png"))
        #expect(image.width == 7 && image.height == 5 && image.isOpaque)
        withExtendedLifetime(folder) {}
    }

    private func contents(_ folder: TemporaryFolder, _ name: String) throws -> [UInt8] {
        let source = try SigningIdentity.readFile("\(folder.path)/\(name)", "image")
        return source
    }

    @Test("every cut of an image within its headers is told, with a place inside the file")
    func truncated() throws {
        for (file, end) in [
            (Picture.png(300, 300), Picture.png(300, 300).count), (Picture.jpeg(300, 300), 77),
        ] {
            for length in 3..<end {
                let error = #expect(throws: ImageProperties.Fault.self) {
                    try ImageProperties(Array(file.prefix(length)))
                }
                #expect(error.map { $0.offset <= length + 8 && !$0.message.isEmpty } == true)
            }
        }
    }

    @Test(
        "sizes that no picture has, and headers that contradict the format, are told",
        arguments: [
            Picture.png(0, 300), Picture.png(300, 0), Picture.png(10_001, 1), Picture.png(.max, .max),
            Picture.png(300, 300, colour: 5), Picture.png(300, 300, colour: 2, depth: 4),
            Picture.png(300, 300, chunks: []), Picture.jpeg(0, 300), Picture.jpeg(300, 0), Picture.jpeg(20_000, 2),
            [0xFF, 0xD8, 0xFF, 0xD9], [0xFF, 0xD8, 0xFF, 0xC0, 0, 3, 8, 0xFF, 0xDA, 0, 2],
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 1],
            [0xFF, 0xD8, 0xFF, 0xDA, 0, 2], [0xFF, 0xD8, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func absurd(file: [UInt8]) {
        #expect(throws: ImageProperties.Fault.self) { try ImageProperties(file) }
    }

    @Test("a logo is advised to be 300 by 300 and opaque; other uses are free in both")
    func advice() throws {
        func codes(_ file: [UInt8], _ use: FileUse = .logo) -> [String] {
            ImageCheck.findings("logo.png", file, use).map { "\($0.severity.rawValue) \($0.code)" }
        }
        #expect(codes(Picture.png(300, 300)) == [])
        #expect(codes(Picture.png(900, 900), .image) == [])
        #expect(codes(Picture.jpeg(1_280, 720)) == ["warning image-size"])
        #expect(codes(Picture.png(120, 120, colour: 6)) == ["warning image-size", "warning image-transparent"])
        #expect(codes(Picture.png(120, 60, colour: 6), .trackingLogo) == [])
        #expect(codes(Picture.jpeg(2_480, 3_508), .receipt) == [])
        #expect(codes(Array(Picture.png(300, 300).prefix(40)), .label) == ["warning image-damaged"])
    }

    @Test("a PNG as Xcode writes it for iOS is shown there, and its readers elsewhere are told of")
    func appleOnly() throws {
        let plain = Picture.png(300, 300, colour: 6)
        let own = Picture.pngSignature + Picture.chunk("CgBI", [0x50, 0, 0x20, 2]) + plain.dropFirst(8)
        let image = try ImageProperties(own)
        #expect(image.width == 300 && image.height == 300 && !image.isOpaque && image.isForAppleOnly)
        #expect(try !ImageProperties(plain).isForAppleOnly)
        let findings = ImageCheck.findings("logo.png", own, .logo)
        #expect(findings.map(\.code) == ["image-apple-only", "image-transparent"])
        #expect(findings.map(\.severity) == [.note, .warning])
        #expect(ImageCheck.findings("a.png", own, .receipt).map(\.code) == ["image-apple-only"])
        for length in 3..<own.count {
            #expect(throws: ImageProperties.Fault.self) { try ImageProperties(Array(own.prefix(length))) }
        }
        // A chunk that claims to go on behind the end: the fault is told inside the file.
        var absurd = own
        absurd.replaceSubrange(8..<12, with: [0xFF, 0xFF, 0xFF, 0xFF])
        let fault = #expect(throws: ImageProperties.Fault.self) { try ImageProperties(absurd) }
        #expect(try #require(fault).offset <= absurd.count)
        // In front of the header alone, and once.
        let twice = own.prefix(24) + own.dropFirst(8)
        #expect(throws: ImageProperties.Fault.self) { try ImageProperties(Array(twice)) }
    }

    @Test(
        "an image is held against the resolution in its name",
        arguments: [
            ("logo.png", 300, true), ("logo.png", 299, false), ("logo.png", 900, true), ("logo.png", 901, false),
            ("logo@2x.png", 600, true), ("logo@2x.png", 300, false), ("logo@3x.png", 900, true),
            ("logo@3x.png", 600, false), ("en.lproj/logo@3x.jpg", 300, false), ("logo@3x", 300, false),
            ("a@2x.b/logo.png", 300, true),
        ] as [(String, UInt32, Bool)]
    )
    func resolutions(path: String, side: UInt32, isFine: Bool) throws {
        let findings = ImageCheck.findings(path, Picture.png(side, side), .logo)
        #expect(findings.map(\.code) == (isFine ? [] : ["image-size"]), "\(path) \(side)")
        if path.contains("@2x.p"), !isFine { #expect(findings[0].message.contains("recommends 600 by 600")) }
    }

    @Test("a header that never ends is read in linear time")
    func linear() throws {
        // A megabyte of fill bytes, and one of empty chunks.
        let fill = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 1_000_000)
        #expect(throws: ImageProperties.Fault.self) { try ImageProperties(fill) }
        var chunks = Picture.pngSignature + Picture.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
        for _ in 0..<80_000 { chunks += [0, 0, 0, 0, 0x61, 0x42, 0x43, 0x44, 0, 0, 0, 0] }
        #expect(throws: ImageProperties.Fault.self) { try ImageProperties(chunks) }
    }
}
