// SPDX-License-Identifier: Apache-2.0

/// One row. Columns count from 0; each accessor throws `PostgresError(.decoding)` when the column is not of that type, or
/// is NULL where the accessor has no `optional` in its name.
package struct Row: Sendable {
    private let result: QueryResult
    private let index: Int

    internal init(result: QueryResult, index: Int) {
        self.result = result
        self.index = index
    }

    /// How many columns there are.
    package var count: Int { self.result.columnCount }

    /// Whether the column is NULL; true for a column that does not exist.
    package func isNull(_ column: Int) -> Bool {
        guard column >= 0, column < self.result.columnCount else { return true }
        return self.result.isNull(row: self.index, column: column)
    }

    // MARK: Single values

    /// Text, also of `varchar`, `json`, `jsonb` and `uuid`.
    package func text(_ column: Int) throws(PostgresError) -> String {
        try self.value(column, "text", BinaryReader.text)
    }

    /// Text or NULL.
    package func optionalText(_ column: Int) throws(PostgresError) -> String? {
        try self.optional(column, "text", BinaryReader.text)
    }

    /// A whole number of any width.
    package func int(_ column: Int) throws(PostgresError) -> Int64 {
        try self.value(column, "a whole number", BinaryReader.integer)
    }

    /// A whole number or NULL.
    package func optionalInt(_ column: Int) throws(PostgresError) -> Int64? {
        try self.optional(column, "a whole number", BinaryReader.integer)
    }

    /// A boolean.
    package func bool(_ column: Int) throws(PostgresError) -> Bool {
        try self.value(column, "a boolean", BinaryReader.boolean)
    }

    /// A boolean or NULL.
    package func optionalBool(_ column: Int) throws(PostgresError) -> Bool? {
        try self.optional(column, "a boolean", BinaryReader.boolean)
    }

    /// A `real` or `double precision`.
    package func double(_ column: Int) throws(PostgresError) -> Double {
        try self.value(column, "a double", BinaryReader.double)
    }

    /// A `real` or `double precision`, or NULL.
    package func optionalDouble(_ column: Int) throws(PostgresError) -> Double? {
        try self.optional(column, "a double", BinaryReader.double)
    }

    /// The bytes of a `bytea`, or of text; copied once, out of libpq's memory.
    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8] {
        try self.value(column, "bytes", BinaryReader.bytes)
    }

    /// The bytes of a `bytea` or NULL.
    package func optionalBytes(_ column: Int) throws(PostgresError) -> [UInt8]? {
        try self.optional(column, "bytes", BinaryReader.bytes)
    }

    /// A moment.
    package func timestamp(_ column: Int) throws(PostgresError) -> Timestamp {
        try self.value(column, "a timestamp", BinaryReader.timestamp)
    }

    /// A moment or NULL.
    package func optionalTimestamp(_ column: Int) throws(PostgresError) -> Timestamp? {
        try self.optional(column, "a timestamp", BinaryReader.timestamp)
    }

    /// A UUID's 36 characters, lower case.
    package func uuid(_ column: Int) throws(PostgresError) -> String {
        try self.value(column, "a uuid", BinaryReader.uuid)
    }

    /// A UUID or NULL.
    package func optionalUUID(_ column: Int) throws(PostgresError) -> String? {
        try self.optional(column, "a uuid", BinaryReader.uuid)
    }

    /// An interval without months, in microseconds.
    package func interval(_ column: Int) throws(PostgresError) -> Int64 {
        try self.value(column, "an interval without months", BinaryReader.interval)
    }

    /// An interval in microseconds, or NULL.
    package func optionalInterval(_ column: Int) throws(PostgresError) -> Int64? {
        try self.optional(column, "an interval without months", BinaryReader.interval)
    }

    // MARK: Arrays

    /// An array of texts.
    package func texts(_ column: Int) throws(PostgresError) -> [String?] {
        try self.array(column, "an array of texts", BinaryReader.text)
    }

    /// An array of whole numbers.
    package func ints(_ column: Int) throws(PostgresError) -> [Int64?] {
        try self.array(column, "an array of whole numbers", BinaryReader.integer)
    }

    /// An array of booleans.
    package func bools(_ column: Int) throws(PostgresError) -> [Bool?] {
        try self.array(column, "an array of booleans", BinaryReader.boolean)
    }

    /// An array of doubles.
    package func doubles(_ column: Int) throws(PostgresError) -> [Double?] {
        try self.array(column, "an array of doubles", BinaryReader.double)
    }

    /// An array of byte strings.
    package func bytesArray(_ column: Int) throws(PostgresError) -> [[UInt8]?] {
        try self.array(column, "an array of bytea", BinaryReader.bytes)
    }

    /// An array of moments.
    package func timestamps(_ column: Int) throws(PostgresError) -> [Timestamp?] {
        try self.array(column, "an array of timestamps", BinaryReader.timestamp)
    }

    /// An array of UUIDs.
    package func uuids(_ column: Int) throws(PostgresError) -> [String?] {
        try self.array(column, "an array of uuids", BinaryReader.uuid)
    }

    /// An array of intervals, in microseconds.
    package func intervals(_ column: Int) throws(PostgresError) -> [Int64?] {
        try self.array(column, "an array of intervals", BinaryReader.interval)
    }

    // MARK: Without a copy

    /// Lends the bytes of a cell where they lie. For large ones that go into a digest or a socket.
    package func withBytes<R>(_ column: Int, _ body: (RawSpan) throws(PostgresError) -> R) throws(PostgresError) -> R {
        try self.check(column)
        return try self.result.withCell(row: self.index, column: column) { bytes throws(PostgresError) in
            try body(bytes)
        }
    }

    // MARK: How

    private func check(_ column: Int) throws(PostgresError) {
        guard column >= 0, column < self.result.columnCount else {
            throw PostgresError(.decoding, "column \(column) was asked for, there are \(self.result.columnCount)")
        }
    }

    private func optional<Value>(
        _ column: Int,
        _ wanted: String,
        _ read: (RawSpan, TypeIdentifier) -> Value?
    ) throws(PostgresError) -> Value? {
        try self.check(column)
        if self.result.isNull(row: self.index, column: column) { return nil }
        let type = self.result.type(of: column)
        let value = try self.result.withCell(row: self.index, column: column) { bytes throws(PostgresError) in
            read(bytes, type)
        }
        guard self.result.isBinary(column), let value else {
            throw PostgresError(
                .decoding,
                "column \(column) (\(self.result.name(of: column))) is \(type.description), not \(wanted)"
            )
        }
        return value
    }

    private func value<Value>(
        _ column: Int,
        _ wanted: String,
        _ read: (RawSpan, TypeIdentifier) -> Value?
    ) throws(PostgresError) -> Value {
        guard let value = try self.optional(column, wanted, read) else {
            throw PostgresError(.decoding, "column \(column) (\(self.result.name(of: column))) is NULL, not \(wanted)")
        }
        return value
    }

    private func array<Element>(
        _ column: Int,
        _ wanted: String,
        _ read: (RawSpan, TypeIdentifier) -> Element?
    ) throws(PostgresError) -> [Element?] {
        try self.value(column, wanted) { bytes, type in BinaryReader.array(bytes, type, read) }
    }
}
