// SPDX-License-Identifier: Apache-2.0

/// What a statement returned. Cells stay in libpq's memory and are decoded when asked for.
package struct Rows: Sendable, RandomAccessCollection {
    private let result: QueryResult

    internal init(_ result: QueryResult) {
        self.result = result
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { self.result.rowCount }

    package subscript(position: Int) -> Row {
        precondition(position >= 0 && position < self.result.rowCount, "row \(position) is out of bounds")
        return Row(result: self.result, index: position)
    }

    /// How many rows were inserted, updated, deleted or returned.
    package var affected: Int { self.result.affected }

    /// The first word of the server's command tag.
    internal var command: String { self.result.command }
}
