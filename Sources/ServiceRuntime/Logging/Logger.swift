// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// How much a log line matters.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case debug, info, notice, warning, error

    /// The level's name as settings and log lines write it.
    package var name: String { ["debug", "info", "notice", "warning", "error"][self.rawValue] }

    /// Reads a level's name.
    package init?(name: String) {
        guard let level = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// A value beside a log message. There is no case for bytes or arbitrary objects: what goes into a log is chosen.
package enum LogValue: Sendable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    case string(String)
    case integer(Int)
    case number(Double)
    case bool(Bool)

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Writes what happened, a line an event, to standard error or wherever the sink leads.
///
/// Lines are JSON objects for machines and plain text on a terminal. Nothing secret or personal may be passed in: order
/// and device identifiers are shortened by their owners, tokens and documents never come here.
package struct Logger: Sendable {
    /// The part of the program that speaks.
    package let label: String
    private let sink: LogSink

    /// Makes a logger of a part of the program.
    package init(label: String, sink: LogSink = .standardError) {
        self.label = label
        self.sink = sink
    }

    /// The same sink under another label.
    package func labelled(_ label: String) -> Logger { Logger(label: label, sink: self.sink) }

    /// What helps a developer.
    package func debug(_ message: @autoclosure () -> String, _ values: [String: LogValue] = [:]) {
        self.log(.debug, message, values)
    }
    /// The ordinary course of things.
    package func info(_ message: @autoclosure () -> String, _ values: [String: LogValue] = [:]) {
        self.log(.info, message, values)
    }
    /// What an operator wants to see: started, stopped, migrated, rotated.
    package func notice(_ message: @autoclosure () -> String, _ values: [String: LogValue] = [:]) {
        self.log(.notice, message, values)
    }
    /// What needs attention soon.
    package func warning(_ message: @autoclosure () -> String, _ values: [String: LogValue] = [:]) {
        self.log(.warning, message, values)
    }
    /// What failed.
    package func error(_ message: @autoclosure () -> String, _ values: [String: LogValue] = [:]) {
        self.log(.error, message, values)
    }

    private func log(_ level: LogLevel, _ message: () -> String, _ values: [String: LogValue]) {
        guard self.sink.isOn(level) else { return }
        self.sink.write(level: level, label: self.label, message: message(), values: values)
    }
}

/// Where log lines go, from which level on, and in which form.
package final class LogSink: Sendable {
    /// The form of a line.
    package enum Form: Sendable { case json, text }

    /// Standard error: text on a terminal, JSON lines otherwise; from `info` on.
    package static let standardError: LogSink = {
        let form: Form = isatty(2) == 1 ? .text : .json
        let writer = LogWriter(descriptor: 2) { dropped in
            LogSink.line(
                form,
                level: .warning,
                label: "log",
                message: "log lines were dropped: nobody read them",
                values: ["lines": .integer(dropped)]
            )
        }
        LogSink.standardErrorWriter.withLock { $0 = writer }
        // However the process ends: a closure for C can hold nothing, so it finds the writer by itself.
        atexit { LogSink.flushStandardError() }
        return LogSink(form: form) { writer.write($0) }
    }()

    private static let standardErrorWriter = Locked<LogWriter?>(nil)

    /// Waits until what was logged is out, for a second at most.
    package static func flushStandardError() {
        LogSink.standardErrorWriter.withLock { $0 }?.flush(within: .seconds(1))
    }

    private let form: Form
    private let level: Atomic<Int>
    private let output: @Sendable ([UInt8]) -> Void

    /// Makes a sink; `output` gets whole lines with their line feed.
    package init(form: Form, level: LogLevel = .info, output: @escaping @Sendable ([UInt8]) -> Void) {
        self.form = form
        self.level = Atomic(level.rawValue)
        self.output = output
    }

    /// Sets the lowest level that is written.
    package func setLevel(_ level: LogLevel) {
        self.level.store(level.rawValue, ordering: .relaxed)
    }

    internal func isOn(_ level: LogLevel) -> Bool { level.rawValue >= self.level.load(ordering: .relaxed) }

    internal func write(level: LogLevel, label: String, message: String, values: [String: LogValue]) {
        self.output(LogSink.line(self.form, level: level, label: label, message: message, values: values))
    }

    private static func line(
        _ form: Form,
        level: LogLevel,
        label: String,
        message: String,
        values: [String: LogValue]
    ) -> [UInt8] {
        var line: [UInt8] = []
        let time = WallTime.now().rfc3339
        switch form {
        case .json:
            line += Array("{\"time\":\"\(time)\",\"level\":\"\(level.name)\",\"label\":".utf8)
            LogSink.append(quoted: label, to: &line)
            line += Array(",\"message\":".utf8)
            LogSink.append(quoted: message, to: &line)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                line.append(0x2c)
                LogSink.append(quoted: name, to: &line)
                line.append(0x3a)
                switch value {
                case .string(let text): LogSink.append(quoted: text, to: &line)
                case .integer(let number): line += Array(String(number).utf8)
                case .number(let number): line += Array((number.isFinite ? String(number) : "null").utf8)
                case .bool(let flag): line += Array((flag ? "true" : "false").utf8)
                }
            }
            line.append(0x7d)
        case .text:
            line += Array("\(time) \(level.name) \(label): ".utf8)
            LogSink.append(plain: message, to: &line)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                line += Array(" \(name)=".utf8)
                switch value {
                case .string(let text): LogSink.append(quoted: text, to: &line)
                case .integer(let number): line += Array(String(number).utf8)
                case .number(let number): line += Array(String(number).utf8)
                case .bool(let flag): line += Array(String(flag).utf8)
                }
            }
        }
        line.append(0x0a)
        return line
    }

    /// A JSON string. Control characters are escaped, so that no text can forge a line or steer a terminal.
    private static func append(quoted text: String, to line: inout [UInt8]) {
        line.append(0x22)
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5c: line += [0x5c, UInt8(scalar.value)]
            case 0x0a: line += [0x5c, 0x6e]
            case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069:
                let digits = String(scalar.value, radix: 16)
                line += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default: line += Array(String(scalar).utf8)
            }
        }
        line.append(0x22)
    }

    private static func append(plain text: String, to line: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x00...0x1f, 0x7f...0x9f: line.append(0x20)
            default: line += Array(String(scalar).utf8)
            }
        }
    }
}
