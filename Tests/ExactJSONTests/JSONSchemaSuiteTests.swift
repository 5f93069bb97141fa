// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@testable import ExactJSON

/// The official JSON Schema test suite, from the folder named in JSON_SCHEMA_TEST_SUITE.
@Suite("Official JSON Schema suite, draft 2020-12")
struct JSONSchemaSuiteTests {
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// Optional files that are passed in full. The others are about older drafts and formats that are not checked.
    static let optional = [
        "anchor", "bignum", "dynamicRef", "ecmascript-regex", "float-overflow", "format-assertion", "id", "no-schema",
        "non-bmp-regex", "refOfUnknownKeyword", "unknownKeyword",
    ]
    static let formats = [
        "date-time", "date", "time", "duration", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "uuid",
        "json-pointer", "regex", "ecmascript-regex", "unknown",
    ]

    static func folder() throws -> String {
        guard let folder = ProcessInfo.processInfo.environment["JSON_SCHEMA_TEST_SUITE"], !folder.isEmpty else {
            throw Unavailable(
                description: "JSON_SCHEMA_TEST_SUITE is not set; run scripts/test, which fetches the suite and sets it."
            )
        }
        guard FileManager.default.fileExists(atPath: folder + "/tests/draft2020-12/ref.json"),
            FileManager.default.fileExists(atPath: folder + "/remotes/draft2020-12/integer.json")
        else {
            throw Unavailable(
                description: "\(folder) does not hold the suite; fetch it with scripts/fetch-json-schema-suite."
            )
        }
        return folder
    }

    static func read(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: Array(try Data(contentsOf: URL(filePath: path))))
    }

    /// The suite's remote schemas under the addresses that it expects them at.
    static func remotes(_ folder: String) throws -> [String: JSONValue] {
        var remotes: [String: JSONValue] = [:]
        let root = folder + "/remotes"
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) where path.hasSuffix(".json") {
            // Other drafts' folders are theirs alone.
            if path.hasPrefix("draft"), !path.hasPrefix("draft2020-12/") { continue }
            remotes["http://localhost:1234/" + path] = try read(root + "/" + path)
        }
        return remotes
    }

    /// Runs a file of the suite; records each wrong verdict. Returns how many were right.
    static func run(
        _ path: String,
        remotes: [String: JSONValue],
        assertsFormats: Bool
    ) throws -> (passed: Int, total: Int) {
        var passed = 0
        var total = 0
        for group in try #require(try read(path).arrayValue) {
            let tests = try #require(group["tests"]?.arrayValue)
            total += tests.count
            let title = group["description"]?.stringValue ?? ""
            let schema: JSONSchema
            do {
                schema = try JSONSchema(
                    try #require(group["schema"]),
                    resources: remotes,
                    assertsFormats: assertsFormats
                )
            } catch {
                Issue.record("\(path): \(title): \(error)")
                continue
            }
            for test in tests {
                let data = try #require(test["data"])
                let expected = try #require(test["valid"]).boolValue
                let faults = schema.validate(data)
                if faults.isEmpty == expected, schema.isValid(data) == expected {
                    passed += 1
                } else {
                    let name = test["description"]?.stringValue ?? ""
                    Issue.record("\(path): \(title): \(name): valid is \(expected), faults \(faults.map(\.message))")
                }
            }
        }
        return (passed, total)
    }

    @Test("every required test passes")
    func required() throws {
        let folder = try Self.folder()
        let remotes = try Self.remotes(folder)
        var passed = 0
        var total = 0
        let directory = folder + "/tests/draft2020-12"
        for file in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        where file.hasSuffix(".json") {
            let result = try Self.run(directory + "/" + file, remotes: remotes, assertsFormats: false)
            passed += result.passed
            total += result.total
        }
        print("JSON Schema suite, required: \(passed) of \(total) passed")
        #expect(total >= 1_257)
        #expect(passed == total)
    }

    @Test("the optional tests of what is claimed pass")
    func optional() throws {
        let folder = try Self.folder() + "/tests/draft2020-12/optional/"
        let remotes = try Self.remotes(try Self.folder())
        var passed = 0
        var total = 0
        for (name, assertsFormats) in Self.optional.map({ ($0, false) }) + Self.formats.map({ ("format/" + $0, true) })
        {
            let result = try Self.run(folder + name + ".json", remotes: remotes, assertsFormats: assertsFormats)
            passed += result.passed
            total += result.total
        }
        var leftOut: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() where path.hasSuffix(".json") {
            let name = String(path.dropLast(".json".count))
            if Self.optional.contains(name) || Self.formats.contains(where: { "format/" + $0 == name }) { continue }
            let groups = try #require(try Self.read(folder + path).arrayValue)
            let count = try groups.reduce(0) { try $0 + #require($1["tests"]?.arrayValue).count }
            leftOut.append("\(name) \(count)")
        }
        print("JSON Schema suite, optional, not claimed: \(leftOut.joined(separator: ", "))")
        print("JSON Schema suite, optional: \(passed) of \(total) passed")
        #expect(passed == total)
    }
}
