// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime
import TestPatience
import Testing

@testable import walletorders

/// What the program prints of texts that others wrote.
@Suite struct TerminalTests {
    /// Names that would begin a line of their own, or read otherwise than they are.
    private static let forgeries = [
        "x\n  error y", "x\r\n  error y", "x\u{85}y", "x\u{2028}y", "x\u{2029}y", "x\u{b}y",
    ]
    private static let obeyed = [
        "\u{1b}[2J", "\u{9b}2J", "\u{202e}", "\u{2066}", "\u{200f}", "\u{61c}", "\r", "\u{7f}",
    ]

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    @Test("A text from outside is one line, and nothing in it is obeyed")
    func line() {
        for text in Self.forgeries + Self.obeyed {
            let line = Terminal.line(text)
            #expect(line.unicodeScalars.count == text.unicodeScalars.count && line.unicodeScalars.contains("\u{fffd}"))
            for scalar in line.unicodeScalars { #expect(!Self.isObeyed(scalar), "\(line)") }
        }
        #expect(Terminal.line("Größe e\u{301} 漢字 👍🏽 \u{5d0}") == "Größe e\u{301} 漢字 👍🏽 \u{5d0}")
        #expect(Terminal.line("a\r\n\u{301}b").utf8.elementsEqual("a\u{fffd}\u{fffd}\u{301}b".utf8))
    }

    @Test("A run of accents costs a line no more than reading it")
    func marks() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        let time = Patience.processorTime { #expect(Terminal.line(marks).utf8.count == marks.utf8.count) }
        #expect(time < .seconds(5) * Patience.factor)
    }

    @Test("A diagnosis has one line, and one for its fix")
    func diagnosis() {
        let text = Diagnosis.bad("a\nb", "c\r\nd", fix: "e\nf").text
        #expect(text.unicodeScalars.count { $0 == "\n" } == 1)
        #expect(text.hasSuffix("\n    → e\u{fffd}f"))
    }

    /// Runs the program with no more processor time than is plenty for the task, and gives what it printed.
    private static func run(_ arguments: [String], _ status: Int32) async throws -> String {
        let quoted = ([TestInstallation.program] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let script = "ulimit -t \(10 * Patience.factor); exec \(quoted)"
        let result = try await ChildProcess.run("/bin/sh", ["-c", script], limit: 8 << 20)
        #expect(result.status == status, "\(arguments): \(result.status)")
        return result.text
    }

    @Test("No name in an order or a package makes a line of a report")
    func forgedLines() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            for (number, name) in (Self.forgeries + Self.obeyed).enumerated() {
                let order = folder + "/\(number).json"
                try Files.write(JSONValue.object([name: 1]).serialized(), to: order)
                let package = folder + "/\(number).order"
                try Files.write(Self.archive(name: Array(name.utf8)), to: package)
                for (arguments, status) in [
                    (["order", "validate", order], 1), (["package", "verify", package], 1),
                    (["package", "inspect", package], 0),
                ] as [([String], Int32)] {
                    let text = try await Self.run(arguments, status)
                    #expect(text.unicodeScalars.contains("\u{fffd}"), "\(arguments)")
                    #expect(!text.unicodeScalars.contains { $0 != "\n" && Self.isObeyed($0) }, "\(arguments)")
                    let lines = text.unicodeScalars.split(separator: "\n").map { String($0) }
                    #expect(!lines.contains { $0.hasPrefix("  error y") || $0.hasPrefix("y") }, "\(text)")
                }
            }
        }
    }

    @Test("Runs of accents cost the reports of the program no more than reading them")
    func reportsOfMarks() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let marks = String(repeating: "\u{301}\u{323}", count: 150_000)
            try Files.write(JSONValue.object([marks: .string(marks)]).serialized(), to: folder + "/a.json")
            let entry = Array(marks.utf8.prefix(60_000))
            try Files.write(Self.archive(name: entry), to: folder + "/a.order")
            for (arguments, status) in [
                (["order", "validate", folder + "/a.json"], 1),
                (["order", "validate", "--json", folder + "/a.json"], 1),
                (["package", "verify", folder + "/a.order"], 1),
                (["package", "inspect", folder + "/a.order"], 0),
            ] as [([String], Int32)] {
                #expect(try await Self.run(arguments, status).utf8.count > 1_000)
            }
        }
    }

    /// An archive of one stored file, which is empty.
    private static func archive(name: [UInt8]) -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        // Version 2.0, names in UTF-8, stored, 1 January 1980; no contents, so no checksum.
        let common = number(20, 2) + number(0x800, 2) + number(0, 2) + number(0, 2) + number(33, 2) + number(0, 12)
        let lengths = number(name.count, 2) + number(0, 2)
        let local = [0x50, 0x4b, 3, 4] + common + lengths + name
        let record = [0x50, 0x4b, 1, 2] + number(20, 2) + common + lengths + number(0, 14) + name
        let end = number(0, 4) + number(1, 2) + number(1, 2) + number(record.count, 4) + number(local.count, 4)
        return local + record + [0x50, 0x4b, 5, 6] + end + number(0, 2)
    }
}
