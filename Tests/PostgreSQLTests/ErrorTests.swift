// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PostgreSQL

struct ErrorTests {
    @Test(
        "A state becomes the code that callers act on",
        arguments: [
            ("40001", .serialization, true), ("40P01", .deadlock, true), ("23505", .uniqueViolation, false),
            ("23503", .constraintViolation, false), ("55P03", .lockTimeout, false), ("57014", .statementTimeout, false),
            ("25006", .readOnly, true), ("57P01", .shuttingDown, true), ("57P03", .shuttingDown, true),
            ("08006", .connection, true), ("28P01", .refused, false), ("3D000", .noDatabase, false),
            ("53100", .exhausted, false), ("53200", .exhausted, false), ("53400", .exhausted, false),
            ("58030", .exhausted, false), ("53300", .connection, true), ("22003", .other, false),
            ("42P01", .other, false), ("42P05", .other, true), ("26000", .other, true),
        ] as [(String, PostgresError.Code, Bool)]
    )
    func codes(_ state: String, _ code: PostgresError.Code, _ isRetryable: Bool) {
        let error = ServerReport(severity: "ERROR", sqlState: state, message: "m").error(statement: nil)
        #expect(error.code == code)
        #expect(error.isRetryable == isRetryable)
        #expect(error.sqlState == state)
    }

    @Test("A plan that no longer fits the tables is told from what the server can't do")
    func stalePlan() {
        var report = ServerReport(severity: "ERROR", sqlState: "0A000", message: "m", routine: "RevalidateCachedQuery")
        #expect(report.error(statement: nil).isRetryable)
        report.routine = "transformLockingClause"
        #expect(!report.error(statement: nil).isRetryable)
    }

    @Test("A message that may quote a value is replaced", arguments: ["22P02", "P0001", "23505", "23514", "XX000"])
    func discretion(_ state: String) {
        let report = ServerReport(severity: "ERROR", sqlState: state, message: "bad: Ada", constraint: "people_key")
        #expect(!report.error(statement: "people_add").description.contains("Ada"))
        #expect(report.error(statement: "people_add").description.contains("people_add"))
    }

    @Test(
        "Why a connection was refused is read from libpq's text",
        arguments: [
            (
                "connection to server on socket \"/s\" failed: FATAL:  3D000: database \"x\" does not exist\nLOCATION:  a",
                .noDatabase, "3D000"
            ),
            ("connection failed: FATAL:  28P01: password authentication failed for user \"app\"", .refused, "28P01"),
            ("connection failed: FATAL:  57P03: the database system is starting up", .shuttingDown, "57P03"),
            ("connection failed: FATAL:  53300: sorry, too many clients already", .connection, "53300"),
            ("connection failed: FATAL:  XX000: what", .connection, "XX000"),
            ("connection to server failed: session is read-only", .readOnly, nil),
            ("connection to server failed: Connection refused", .connection, nil),
            ("", .connection, nil),
        ] as [(String, PostgresError.Code, String?)]
    )
    func refusals(_ text: String, _ code: PostgresError.Code, _ state: String?) {
        let error = ConnectFailure.error(from: text)
        #expect(error.code == code)
        #expect(error.sqlState == state)
    }

    @Test(
        "Only a plain SELECT counts as a read that may be repeated",
        arguments: zip(
            [
                Statement("a", "select 1"), Statement("b", "SELECT x FROM t WHERE y = $1"),
                Statement("c", "select x from t for update"), Statement("d", "select nextval('s')"),
                Statement("e", "with a as (select 1) select * from a"), Statement("f", "update t set x = 1"),
                Statement("g", "select pg_advisory_lock(1)"), Statement("h", "select pg_notify('a', '')"),
                Statement("i", "select a from information"),
                Statement("j", "select pg_logical_emit_message(true, 'a', '')"),
            ],
            [true, true, false, false, false, false, false, false, true, false]
        )
    )
    func reads(_ statement: Statement, _ isPlainRead: Bool) {
        #expect(statement.isPlainRead == isPlainRead)
    }

    @Test("The pause before a repetition grows, within its ceiling, and may be nothing")
    func pauses() {
        let deadlock = PostgresError(.deadlock, "")
        let lost = PostgresError(.connection, "")
        #expect(RetryPolicy.delay(after: 1, deadlock, random: 0) == .zero)
        #expect(RetryPolicy.delay(after: 1, deadlock, random: 0.999) < .milliseconds(5))
        #expect(RetryPolicy.delay(after: 4, deadlock, random: 0.5) == .milliseconds(20))
        #expect(RetryPolicy.delay(after: 1, lost, random: 0.5) == .milliseconds(20))
        #expect(RetryPolicy.delay(after: 50, lost, random: 0.999) < .milliseconds(500))
    }
}
