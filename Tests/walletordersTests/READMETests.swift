// SPDX-License-Identifier: Apache-2.0
import OrderModel
import ServiceRuntime
import Testing

/// The README's tables against the sources that they tell of.
@Suite("README")
struct READMETests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    private static func text(_ path: String) throws -> String {
        String(decoding: try Files.read(self.root + "/" + path), as: UTF8.self)
    }

    /// The Swift sources of a folder, without some files.
    private static func sources(_ folder: String, without others: Set<String> = []) throws -> [String] {
        var texts: [String] = []
        for name in try Files.list(self.root + "/" + folder).sorted() where !others.contains(name) {
            let path = folder + "/" + name
            if Files.isDirectory(self.root + "/" + path) { texts += try self.sources(path, without: others) }
            if name.hasSuffix(".swift") { texts.append(try self.text(path)) }
        }
        return texts
    }

    /// The rows of the table below a heading: the first cell without its backquotes, and the last one.
    private static func rows(under heading: String) throws -> [String: String] {
        let readme = try self.text("README.md")
        let start = try #require(readme.firstRange(of: "\n## \(heading)\n"), "README.md lacks ## \(heading)")
        let section = readme[start.upperBound...].prefix { _ in true }.split(separator: "\n## ").first ?? ""
        var rows: [String: String] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimming(" ") }
            let name = String(cells[0].dropFirst().prefix { $0 != "`" })
            #expect(rows[name] == nil, "\(name) stands twice under \(heading)")
            rows[name] = String(cells.last ?? "")
        }
        return rows
    }

    private static func matches(_ texts: [String], _ pattern: Regex<(Substring, Substring)>) -> Set<String> {
        Set(texts.flatMap { text in text.matches(of: pattern).map { String($0.output.1) } })
    }

    /// Codes of findings about packages: all words with hyphens, which there are nothing else.
    private static func packageCodes() throws -> Set<String> {
        self.matches(
            try self.sources("Sources/OrderPackage", without: ["OrderPackageError.swift"]),
            /"([a-z0-9]+(?:-[a-z0-9]+)+)"/
        )
    }

    /// Codes of problems, and of findings about requests, wherever they are written.
    private static func doorCodes() throws -> Set<String> {
        var codes: Set<String> = []
        for module in ["MerchantAPI", "DeviceAPI", "HTTPEngine", "OrderStore"] {
            let sources = try self.sources("Sources/" + module)
            codes.formUnion(self.matches(sources, /code: (?:String = )?"([a-z0-9-]+)"/))
            codes.formUnion(self.matches(sources, /\(status, code\) = \(\.\w+, "([a-z0-9-]+)"\)/))
            codes.formUnion(
                self.matches(
                    sources,
                    /(?:refused|complain)\(\s*(?:[\w.]+,\s*)?(?:"order",\s*)?"([a-z0-9]+(?:-[a-z0-9]+)+)"/
                )
            )
            codes.formUnion(self.matches(sources, /let code = .* \? "[a-z-]+" : "([a-z0-9-]+)"/))
        }
        return codes
    }

    /// Codes that the doors give to findings, which stand in `errors` and `warnings`.
    private static func findingCodes() throws -> Set<String> {
        var codes: Set<String> = []
        for module in ["MerchantAPI", "OrderStore"] {
            let sources = try self.sources("Sources/" + module)
            codes.formUnion(self.matches(sources, /Finding\(\s*severity: [^,]+,\s*code: "([a-z0-9-]+)"/))
            codes.formUnion(
                self.matches(
                    sources,
                    /(?:refused|complain)\(\s*(?:[\w.]+,\s*)?(?:"order",\s*)?"([a-z0-9]+(?:-[a-z0-9]+)+)"/
                )
            )
        }
        return codes
    }

    @Test func `every finding's code is explained, with the catalogue's words, and no other`() throws {
        let rows = try Self.rows(under: "Findings")
        let problems = try Self.rows(under: "Errors of the APIs")
        let package = try Self.packageCodes()
        let doors = try Self.doorCodes()
        var wrong: [String] = []
        for entry in FindingCatalogue.entries where rows[entry.code] != entry.meaning {
            wrong.append("| `\(entry.code)` | \(entry.meaning) |")
        }
        // One that stands for a problem, too, has its row here all the same: it is read in `errors`.
        let findings = try Self.findingCodes()
        #expect(findings.isSubset(of: doors) && findings.count > 20)
        let others = package.union(doors.filter { problems[$0] == nil }).union(findings)
        for code in others.sorted() where rows[code] == nil && FindingCatalogue.meaning(of: code) == nil {
            wrong.append("| `\(code)` | (what it means, in one line) |")
        }
        #expect(wrong.isEmpty, "put these lines into README.md under Findings:\n\(wrong.joined(separator: "\n"))")
        let known = package.union(doors).union(FindingCatalogue.entries.map(\.code))
        let stale = Set(rows.keys).subtracting(known).sorted()
        #expect(stale.isEmpty, "README.md explains findings that nothing gives out: \(stale)")
    }

    @Test func `every problem's code is explained, and no other`() throws {
        let problems = try Self.rows(under: "Errors of the APIs")
        let findings = try Self.rows(under: "Findings")
        let codes = try Self.doorCodes()
        let missing = codes.filter { problems[$0] == nil && findings[$0] == nil }.sorted()
        #expect(missing.isEmpty, "README.md explains neither under Findings nor under Errors of the APIs: \(missing)")
        let stale = Set(problems.keys).subtracting(codes).sorted()
        #expect(stale.isEmpty, "README.md explains problems that nothing gives out: \(stale)")
    }

    @Test func `its curl lines create an order and change it`() async throws {
        let readme = try Self.text("README.md")
        let section = try #require(
            readme.split(separator: "\n## The first order\n").last?.split(separator: "\n## ").first
        )
        // A line that ends inside a quoted text goes on, up to the one that ends it.
        var lines: [String] = []
        var isOpen = false
        for line in section.split(separator: "\n") where isOpen || line.hasPrefix("    curl ") {
            if isOpen { lines[lines.count - 1] += "\n" + line } else { lines.append(String(line)) }
            isOpen = !lines[lines.count - 1].filter { $0 == "'" }.count.isMultiple(of: 2)
        }
        #expect(lines.count == 2)
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let key = try program.value(after: "Merchant key (kept in the data directory): ", upTo: "\n")
            var order = ""
            for (line, status) in zip(lines, ["201", "200"]) {
                let command = line.replacing("127.0.0.1:8081", with: merchant).replacing("wok_…", with: key)
                    .replacing("/ORDER/", with: "/\(order)/")
                let result = try await ChildProcess.run(
                    "/bin/bash",
                    ["-c", "cd '\(installation.directory)' && \(command) -w ' %{http_code}'"]
                )
                #expect(result.text.hasSuffix(" " + status), "\(command): \(result.text)\(result.errorText)")
                let answer = String(decoding: try Files.read(installation.directory + "/answer.json"), as: UTF8.self)
                order = String(answer.split(separator: "\"orderIdentifier\":\"").last?.prefix { $0 != "\"" } ?? "")
            }
        }
    }

    @Test func `the rate limits it tells of are those in force`() async throws {
        let shown = try await ChildProcess.run(
            TestInstallation.program,
            ["config", "show", "--sources"],
            environment: ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": "/tmp"]
        ).text
        let rows = try Self.text("README.md").split(separator: "\n").filter { $0.contains(#/^\| `\w+\.\w+Per\w+` \|/#) }
        #expect(rows.count == shown.split(separator: "\n").count { $0.contains(#/^\w+\.\w+Per\w+ = /#) })
        #expect(rows.count == 4)
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimming(" ") }
            let setting = cells[0].dropFirst().dropLast()
            #expect(shown.contains("\(setting) = \(cells[2])  (default)\n"), "\(row)")
        }
    }

    @Test func `its curl line for files creates an order`() async throws {
        let readme = try Self.text("README.md")
        let line = try #require(
            readme.split(separator: "\n").first { $0.hasPrefix("    curl ") && $0.contains(" -F ") }
        )
        let example = try #require(readme.firstMatch(of: /\{"order": (\{\n[^']*)\}'/)?.output.1)
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let key = try program.value(after: "Merchant key (kept in the data directory): ", upTo: "\n")
            try Files.write(Array(example.utf8), to: installation.directory + "/order.json")
            let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            try Files.write(png, to: installation.directory + "/logo.png")
            let command = line.replacing("127.0.0.1:8081", with: merchant).replacing("wok_…", with: key)
            let result = try await ChildProcess.run(
                "/bin/bash",
                ["-c", "cd '\(installation.directory)' && \(command) -w ' %{http_code}'"]
            )
            #expect(result.text.hasSuffix(" 201"), "\(command): \(result.text)\(result.errorText)")
        }
    }

    @Test func `every command is listed`() async throws {
        let help = try await ChildProcess.run(TestInstallation.program, ["--help"]).text
        let readme = try Self.text("README.md")
        let table = try #require(readme.split(separator: "\n## Commands\n").last?.split(separator: "\n## ").first)
        let listed = help.split(separator: "Commands:\n").last?.split(separator: "\n\n").first ?? ""
        var count = 0
        for line in listed.split(separator: "\n") where line.hasPrefix("  ") {
            // Two blanks end the words of a command.
            let words = String(line.dropFirst(2)).split(separator: "  ").first ?? ""
            #expect(table.contains("`\(words)"), "README.md does not list \(words)")
            count += 1
        }
        #expect(count > 10)
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> Substring {
        var text = self.drop { $0 == character }
        while text.last == character { text.removeLast() }
        return text
    }
}
