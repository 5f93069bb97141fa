// SPDX-License-Identifier: Apache-2.0
import CLibPQ
import Glibc

/// An owned `PGresult *`, cleared exactly once.
@safe
internal final class QueryResult: @unchecked Sendable {
    // Sendable by rule: a PGresult is never changed after libpq hands it out, and reading it takes no shared state.
    private let pointer: OpaquePointer

    let rowCount: Int
    let columnCount: Int

    init(takingOwnership pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        self.rowCount = unsafe Int(PQntuples(pointer))
        self.columnCount = unsafe Int(PQnfields(pointer))
    }

    deinit { unsafe PQclear(self.pointer) }

    var status: ExecStatusType { unsafe PQresultStatus(self.pointer) }

    /// How many rows a change touched; for a query, how many it returned.
    var affected: Int {
        guard let text = unsafe PQcmdTuples(self.pointer), unsafe text.pointee != 0 else { return 0 }
        return unsafe Int(atoll(text))
    }

    /// The first word of the command tag: `COMMIT`, `ROLLBACK`, `SELECT`, ….
    var command: String {
        guard let text = unsafe PQcmdStatus(self.pointer) else { return "" }
        return unsafe String(String(cString: text).prefix { $0 != " " })
    }

    /// The inferred types of a described statement's parameters.
    var parameterTypes: [TypeIdentifier] {
        unsafe (0..<PQnparams(self.pointer)).map { unsafe TypeIdentifier(rawValue: PQparamtype(self.pointer, $0)) }
    }

    func type(of column: Int) -> TypeIdentifier {
        unsafe TypeIdentifier(rawValue: PQftype(self.pointer, Int32(column)))
    }

    func name(of column: Int) -> String {
        guard let name = unsafe PQfname(self.pointer, Int32(column)) else { return "?" }
        return unsafe String(cString: name)
    }

    func isBinary(_ column: Int) -> Bool { unsafe PQfformat(self.pointer, Int32(column)) == 1 }

    func isNull(row: Int, column: Int) -> Bool { unsafe PQgetisnull(self.pointer, Int32(row), Int32(column)) == 1 }

    /// Lends a cell's bytes in libpq's memory; NULL is an empty span.
    func withCell<R>(row: Int, column: Int, _ body: (RawSpan) throws(PostgresError) -> R)
        throws(PostgresError) -> R
    {
        let length = unsafe Int(PQgetlength(self.pointer, Int32(row), Int32(column)))
        let start = unsafe UnsafeRawPointer(PQgetvalue(self.pointer, Int32(row), Int32(column)))
        guard let start = unsafe start else { return try body(RawSpan()) }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: length))
    }

    /// The server's error, when this result is one.
    var report: ServerReport? { unsafe QueryResult.report(of: self.pointer) }

    /// Reads the fields of an error or notice; nil when the server did not send it (libpq's own errors have no state).
    static func report(of pointer: OpaquePointer) -> ServerReport? {
        func field(_ code: Unicode.Scalar) -> String? {
            guard let text = unsafe PQresultErrorField(pointer, Int32(code.value)) else { return nil }
            return unsafe String(cString: text)
        }
        guard let sqlState = field("C") else { return nil }
        return ServerReport(
            severity: field("V") ?? field("S") ?? "ERROR",
            sqlState: sqlState,
            message: field("M") ?? "",
            constraint: field("n"),
            routine: field("R")
        )
    }
}
