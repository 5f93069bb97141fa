// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL

/// One line that a device reported.
package struct DeviceLogLine: Sendable, Hashable {
    /// What it is about, one of the device door's own words.
    package let kind: String
    /// The line; cut to 1,000 bytes when stored.
    package let message: String
    /// The order that it names, when one was recognised. A stored line has it only of an order that there was.
    package let key: OrderKey?

    /// Makes a line.
    package init(kind: String, message: String, key: OrderKey?) {
        self.kind = kind
        self.message = message
        self.key = key
    }
}

/// A stored line.
package struct DeviceLogEntry: Sendable, Hashable {
    /// When it came in.
    package let receivedAt: Moment
    /// The line.
    package let line: DeviceLogLine

    init(_ row: Row) throws {
        self.receivedAt = Moment(try row.timestamp(0))
        var key: OrderKey?
        if let type = try row.optionalText(2), let order = try row.optionalText(3) {
            key = OrderKey(try stored { try OrderTypeIdentifier(type) }, try stored { try OrderIdentifier(order) })
        }
        self.line = DeviceLogLine(kind: try row.text(1), message: try row.text(4), key: key)
    }
}

/// One answered request for a package.
package struct PackageRead: Sendable, Hashable {
    /// Which order.
    package let key: OrderKey
    /// The revision that was answered with.
    package let revision: Int64
    /// Whether the answer was 304.
    package let notModified: Bool

    /// Notes a request.
    package init(key: OrderKey, revision: Int64, notModified: Bool) {
        self.key = key
        self.revision = revision
        self.notModified = notModified
    }
}

extension OrderStore {
    /// Keeps lines that a device reported: at most 100 a call, each cut to 1,000 bytes.
    ///
    /// - Returns: those that are about no order that there is, so that no history shows them.
    @discardableResult
    package func recordLog(_ lines: [DeviceLogLine]) async throws -> [DeviceLogLine] {
        let lines = lines.prefix(100)
        if lines.isEmpty { return [] }
        let rows = try await client.query(
            DeviceStatements.addLogLines,
            [
                .texts(lines.map { Self.cut($0.kind, 100) }), .texts(lines.map { $0.key?.orderType.text }),
                .texts(lines.map { $0.key?.order.text }), .texts(lines.map { Self.cut($0.message, 1_000) }),
            ]
        )
        return try rows.compactMap { row in
            try row.bool(0) ? DeviceLogLine(kind: try row.text(1), message: try row.text(2), key: nil) : nil
        }
    }

    /// Counts answered package requests; the caller collects them and calls about once a second.
    package func recordReads(_ reads: [PackageRead]) async throws {
        for start in stride(from: 0, to: reads.count, by: 1_000) {
            let chunk = reads[start..<min(start + 1_000, reads.count)]
            // An erase may delete the same rows in another order, hence the retries; counting twice does no harm.
            _ = try await write(
                DeviceStatements.addReads,
                [
                    .texts(chunk.map(\.key.orderType.text)), .texts(chunk.map(\.key.order.text)),
                    .ints(chunk.map(\.revision)), .ints(chunk.map { $0.notModified ? 0 : 1 }),
                    .ints(chunk.map { $0.notModified ? 1 : 0 }),
                ]
            )
        }
    }

    /// The newest lines of all devices.
    package func deviceLog(limit: Int) async throws -> [DeviceLogEntry] {
        let rows = try await client.query(DeviceStatements.readLog, [.int(Int64(min(max(limit, 0), 1_000)))])
        return try rows.map { try DeviceLogEntry($0) }
    }

    /// Cuts between characters; NUL, which PostgreSQL's text can't hold, becomes the replacement character.
    static func cut(_ text: String, _ limit: Int) -> String {
        var cut = ""
        var length = 0
        for scalar in text.unicodeScalars {
            let kept = scalar.value == 0 ? "\u{FFFD}" : scalar
            length += UTF8.width(kept)
            if length > limit { break }
            cut.unicodeScalars.append(kept)
        }
        return cut
    }
}
