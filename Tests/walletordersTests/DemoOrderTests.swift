// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime
import Testing

/// The demo's bakery is the public sample, and nothing else.
@Suite("Orders of the demo")
struct DemoOrderTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    private static func bytes(_ path: String) throws -> [UInt8] { try Files.read(self.root + "/" + path) }

    /// The raw text of a constant of the demo's source.
    private static func constant(_ name: String) throws -> String {
        let source = String(decoding: try self.bytes("Sources/walletorders/Demo/DemoOrders.swift"), as: UTF8.self)
        let start = try #require(source.firstRange(of: "static let \(name) = #\"\"\"\n"))
        let end = try #require(source[start.upperBound...].firstRange(of: "\n        \"\"\"#"))
        return source[start.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }

    /// Every value of a document with its place, numbers by their text.
    private static func flat(_ value: JSONValue, at place: String = "") -> [String: String] {
        switch value {
        case .object(let object):
            object.reduce(into: [:]) { all, member in
                all.merge(self.flat(member.value, at: place + "/" + member.name)) { first, _ in first }
            }
        case .array(let items):
            items.enumerated().reduce(into: [:]) { all, item in
                all.merge(self.flat(item.element, at: place + "/\(item.offset)")) { first, _ in first }
            }
        default: [place: String(decoding: value.serialized(), as: UTF8.self)]
        }
    }

    @Test func `the bakery's order is the sample, reset to the beginning and of the demo's type`() throws {
        let sample = Self.flat(
            try JSONValue(parsing: try Self.bytes("Tests/OrderModelTests/Fixtures/order-bakery-pickup.json"))
        )
        let ours = Self.flat(try JSONValue(parsing: Array(try Self.constant("bakery").utf8)))
        let changed = Set(sample.keys).union(ours.keys).filter { sample[$0] != ours[$0] }
        #expect(
            changed.sorted() == [
                "/fulfillments/0/pickedUpAt", "/fulfillments/0/status", "/fulfillments/0/statusDescription",
                "/orderIdentifier", "/orderTypeIdentifier", "/status", "/updatedAt",
            ]
        )
        #expect(ours["/status"] == "\"open\"" && ours["/fulfillments/0/status"] == "\"processing\"")
        for place in ["/fulfillments/0/pickedUpAt", "/orderIdentifier", "/updatedAt"] { #expect(ours[place] == nil) }
        #expect(ours.count > 60)
    }

    @Test(arguments: [("bakeryGerman", "de"), ("bakeryEnglish", "en")])
    func `the bakery's texts are the sample's`(_ name: String, _ language: String) throws {
        let sample = try Self.bytes("Tests/OrderModelTests/Fixtures/order-bakery.\(language).strings")
        #expect(try Self.constant(name) == String(decoding: sample, as: UTF8.self))
    }

    @Test func `the demo's pictures are decoded by others: every pixel is there`() async throws {
        let script = #"""
            import base64, re, struct, subprocess, sys, zlib
            source = open(sys.argv[1]).read()
            def picture(name):
                return base64.b64decode(re.search(r'let %s = bytes\(\s+"""(.*?)"""' % name, source, re.S).group(1))
            png = picture("png")
            assert png[:8] == b"\x89PNG\r\n\x1a\n"
            chunks, place = [], 8
            while place < len(png):
                length, kind = struct.unpack(">I4s", png[place:place + 8])
                data = png[place + 8:place + 8 + length]
                assert zlib.crc32(kind + data) == struct.unpack(">I", png[place + 8 + length:place + 12 + length])[0]
                chunks.append((kind, data))
                place += 12 + length
            width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
            assert (chunks[0][0], width, height, colour) == (b"IHDR", 300, 300, 3) and chunks[-1][0] == b"IEND"
            rows = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
            row = 1 + (width * depth + 7) // 8
            assert len(rows) == height * row and all(rows[at] <= 4 for at in range(0, len(rows), row))
            pixels = subprocess.run(["djpeg", "-strict", "-pnm"], input=picture("jpeg"), capture_output=True, check=True)
            assert not pixels.stderr, pixels.stderr
            head = pixels.stdout.split(b"\n", 3)
            assert head[1] == b"300 300" and len(head[3]) == 300 * 300 * (3 if head[0] == b"P6" else 1), head[:3]
            """#
        let decoded = try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", script, Self.root + "/Sources/walletorders/Demo/DemoImages.swift"]
        )
        #expect(decoded.status == 0, "\(decoded.errorText)")
    }
}
