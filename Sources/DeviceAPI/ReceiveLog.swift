// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderStore
internal import ServiceRuntime

extension DeviceAPI {
    /// `POST /v1/log`: what a device complains of. Answered 200 whatever becomes of the lines: a device can do nothing
    /// about it.
    ///
    /// Source: Apple, "Log a message".
    internal func receiveLog(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        let value: JSONValue
        do { value = try JSONValue(parsing: request.body) } catch {
            throw Problem.badRequest("The body is not JSON: \(error)", code: "json-syntax")
        }
        guard let logs = value["logs"]?.arrayValue else {
            throw Problem.badRequest("The body must be an object with the array \"logs\".", code: "malformed-log")
        }
        let lines = logs.prefix(100).compactMap(\.stringValue)
        let accepted = self.logs.accept(lines, from: request.remoteAddress)
        if !accepted.isEmpty { try await self.store.recordLog(accepted) }
        return HTTPResponse(.ok)
    }
}

/// Sorts device log lines by what they complain of, and bounds how many are kept.
internal struct DeviceLogs: Sendable {
    /// Lines a minute that are kept from one address.
    private static let linesPerMinute = 60
    /// Addresses that are counted at a time.
    private static let addresses = 10_000

    private let metrics: Metrics
    private struct Window: Sendable {
        var start = MonotonicTime.now()
        var counts: [String: Int] = [:]
    }
    private let window = Locked(Window())

    init(metrics: Metrics) {
        self.metrics = metrics
    }

    /// Counts all lines by kind, and gives those back that are kept.
    func accept(_ lines: [String], from address: String) -> [DeviceLogLine] {
        let room = self.window.withLock { window -> Int in
            let now = MonotonicTime.now()
            if now - window.start > .seconds(60) { window = Window(start: now) }
            guard window.counts.count < Self.addresses || window.counts[address] != nil else { return 0 }
            let room = max(0, Self.linesPerMinute - window.counts[address, default: 0])
            window.counts[address, default: 0] += lines.count
            return min(room, lines.count)
        }
        for line in lines {
            self.metrics.counter(
                "walletorders_device_log_lines_total",
                help: "Lines that devices sent to /v1/log.",
                labels: [("kind", Self.kind(of: line))]
            ).increment()
        }
        return lines.prefix(room).map { DeviceLogLine(kind: Self.kind(of: $0), message: $0, key: nil) }
    }

    /// What a line complains of; the words are those seen in the field.
    static func kind(of line: String) -> String {
        let text = line.prefix(2_000).lowercased()
        let kinds: [(String, String)] = [
            ("did not provide a 'last-modified'", "no-last-modified"), ("ignored the 'if-modified-since'", "not-304"),
            ("unregistered", "unregistered"), ("was unchanged", "unchanged"),
            ("authentication failure", "authentication"), ("response code 401", "authentication"),
            ("signature", "signature"), ("manifest", "manifest"), ("response code", "response-code"),
        ]
        return kinds.first { text.contains($0.0) }?.1 ?? "other"
    }
}

extension String {
    fileprivate func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        let bytes = Array(self.utf8)
        guard wanted.count <= bytes.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
