// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import ServiceRuntime
import Testing

/// `order validate` and `order schema`, by what they print and the code they exit with.
@Suite("Order commands")
struct OrderCommandTests {
    private static let order = """
        {"schemaVersion": 1, "orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "A-1",
         "orderType": "ecommerce", "status": "open", "createdAt": "2026-01-02T03:04:05Z",
         "updatedAt": "2026-01-02T03:04:05Z", "orderManagementURL": "https://www.example.com/o",
         "merchant": {"displayName": "Shop", "merchantIdentifier": "merchant.com.example.shop",
                      "url": "https://www.example.com/"}MORE}
        """

    private static func order(_ more: String = "") -> [UInt8] {
        Array(self.order.replacing("MORE", with: more).utf8)
    }

    private static func call(
        _ status: Int32,
        _ arguments: [String],
        input: [UInt8] = []
    ) async throws -> (text: String, errors: String) {
        let result = try await ChildProcess.run(TestInstallation.program, ["order"] + arguments, input: input)
        #expect(result.status == status, "\(arguments): \(result.text.prefix(500))\(result.errorText.prefix(500))")
        return (result.text, result.errorText)
    }

    private static func reports(_ text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    @Test("The report of a document has exactly the agreed members")
    func report() async throws {
        let good = try await Self.call(0, ["validate", "--json", "-"], input: Self.order())
        #expect(good.text == #"{"file":"-","valid":true,"checked":["json","order"],"findings":[]}"# + "\n")
        let bad = try await Self.call(1, ["validate", "--json", "-"], input: Self.order(#", "barcode": 1"#))
        let report = try #require(try Self.reports(bad.text).first)
        #expect(report["valid"]?.boolValue == false)
        #expect(report["findings"]?[0]?["pointer"]?.stringValue == "/barcode")
        #expect(bad.errors.isEmpty)
        let warned = try await Self.call(0, ["validate", "-"], input: Self.order(#", "customer": null"#))
        #expect(warned.text.contains("warning null-member at /customer"))
    }

    @Test("An order inside of a request's wrapper is one fault, not ten")
    func wrapped() async throws {
        let wrapped = Array(#"{"order": "#.utf8) + Self.order() + Array("}".utf8)
        let report = try #require(
            try Self.reports(try await Self.call(1, ["validate", "--json", "-"], input: wrapped).text).first
        )
        #expect(report["findings"]?.arrayValue?.count == 1)
        #expect(report["findings"]?[0]?["pointer"]?.stringValue == "/order")
        #expect(report["findings"]?[0]?["fix"]?.stringValue?.hasPrefix("Send what \"order\" holds") == true)
    }

    @Test("Several files make one report a line, and one that can't be read keeps none of the others back")
    func several() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            try Files.write(Self.order(), to: folder + "/good.json")
            try Files.write(Self.order(", \"x\": 1"), to: folder + "/bad.json")
            let files = [folder + "/good.json", folder + "/bad.json"]
            let both = try await Self.call(1, ["validate", "--json"] + files)
            #expect(try Self.reports(both.text).map { $0["file"]?.stringValue } == files)
            #expect(try Self.reports(both.text).map { $0["valid"]?.boolValue } == [true, false])
            let missing = folder + "/missing.json"
            let rest = try await Self.call(66, ["validate", "--json", missing] + files)
            #expect(try Self.reports(rest.text).count == 2)
            #expect(rest.errors.contains("missing.json") && !rest.text.contains("missing.json"))
            // It opens, but reading it fails.
            #expect(try await Self.call(66, ["validate", "/proc/self/mem"]).errors.contains("/proc/self/mem"))
        }
    }

    @Test("A source folder is checked with its files; one without order.json is unreadable")
    func folders() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory + "/source"
            try Files.createDirectory(folder)
            #expect(try await Self.call(66, ["validate", folder]).errors.contains("order.json"))
            try Files.write(
                Self.order(#", "lineItems": [{"title": "A", "quantity": 1, "image": "a.png"}]"#),
                to: folder + "/order.json"
            )
            let report = try await Self.call(1, ["validate", "--json", folder])
            #expect(report.text.contains(#""checked":["json","order","files","strings"]"#))
            #expect(report.text.contains("a.png"))
            try Files.write(Self.order(), to: folder + "/order.json")
            _ = try await Self.call(0, ["validate", folder])
            try Files.write(Array("{".utf8), to: folder + "/order.json")
            #expect(try await Self.call(1, ["validate", "--json", folder]).text.contains(#""checked":["json"]"#))
        }
    }

    @Test("Empty input is no JSON, large input is refused, deep input ends in a finding")
    func strangeInput() async throws {
        let empty = try await Self.call(1, ["validate", "--json", "-"])
        #expect(empty.text.contains("json-syntax") && empty.text.contains(#""checked":["json"]"#))
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
        #expect(try await Self.call(1, ["validate", "-"], input: deep).text.contains("64 levels"))
        #expect(try await Self.call(1, ["validate", "-"], input: [0xFF, 0xFE, 0]).text.contains("json-syntax"))
        try await TestInstallation.use { installation in
            let file = installation.directory + "/large.json"
            try Files.write([UInt8](repeating: UInt8(ascii: " "), count: 9 << 20), to: file)
            #expect(try await Self.call(66, ["validate", file]).errors.contains("8 MiB"))
            let items = (0..<10_000).map { #"{"title": "\#($0)", "quantity": 1}"# }.joined(separator: ",")
            try Files.write(Self.order(#", "lineItems": [\#(items)]"#), to: file)
            _ = try await Self.call(0, ["validate", file])
        }
    }

    @Test("Wrong usage is told with exit 64")
    func usage() async throws {
        #expect(try await Self.call(64, ["validate"]).errors.contains("standard input"))
        #expect(try await Self.call(64, ["validate", "-", "-"]).errors.contains("once"))
        #expect(try await Self.call(64, ["validate", "--target", "ios15", "-"]).errors.contains("ios16"))
        #expect(try await Self.call(64, ["validate", "--jason", "-"]).errors.contains("--json"))
        #expect(try await Self.call(64, ["schema", "x"]).errors.contains("no operand"))
        #expect(try await Self.call(0, ["validate", "--help"]).text.contains("--target RELEASE"))
    }

    @Test("What is newer than the target is told")
    func target() async throws {
        let order = Self.order(#", "returns": []"#)
        #expect(
            try await Self.call(0, ["validate", "--target", "ios16", "-"], input: order).text.contains(
                "newer-than-target"
            )
        )
        #expect(
            try await !Self.call(0, ["validate", "--target", "iOS 17.2", "-"], input: order).text.contains(
                "newer-than-target"
            )
        )
        let second = Array(Self.order.replacing("MORE", with: "").replacing("ersion\": 1", with: "ersion\": 2").utf8)
        _ = try await Self.call(1, ["validate", "--target", "ios16", "-"], input: second)
        _ = try await Self.call(0, ["validate", "--target", "ios17", "-"], input: second)
    }

    @Test("The first version of an order is not updated later than it was created")
    func first() async throws {
        let date = #"updatedAt": "2026-01-"#
        let order = String(decoding: Self.order(), as: UTF8.self)
        #expect(order.contains(date + "02T"))
        _ = try await Self.call(0, ["validate", "--first", "-"], input: Self.order())
        let later = Array(order.replacing(date + "02T", with: date + "03T").utf8)
        _ = try await Self.call(0, ["validate", "-"], input: later)
        let answer = try await Self.call(1, ["validate", "--first", "-"], input: later)
        #expect(answer.text.contains("error updated-without-change at /updatedAt"))
    }

    @Test("The schema is printed by the program alone, and is the file in Schemas")
    func schema() async throws {
        try await TestInstallation.use { installation in
            // A copy in a folder of its own: nothing beside the binary is needed.
            let copy = installation.directory + "/walletorders"
            try Files.write(try Files.read(TestInstallation.program, limit: 1 << 30), to: copy, mode: 0o755)
            let result = try await ChildProcess.run(copy, ["order", "schema"])
            #expect(result.status == 0 && result.text == OrderSchema.text + "\n")
        }
    }
}
