// SPDX-License-Identifier: Apache-2.0

/// An error or notice of the server, its fields read out of libpq's memory at once.
internal struct ServerReport: Sendable {
    /// Never translated: ERROR, FATAL, PANIC, WARNING, NOTICE, ….
    var severity: String
    /// Five characters; PostgreSQL manual, appendix A.
    var sqlState: String
    /// The primary message. May quote values; see `safeMessage`.
    var message: String
    var constraint: String?
    /// The function of the server that reported it.
    var routine: String?

    /// The error for callers.
    ///
    /// - Parameter statement: the statement's name, for the message.
    func error(statement: String?) -> PostgresError {
        var text = self.safeMessage
        if let statement { text += ", in statement \(statement)" }
        return PostgresError(
            self.code,
            text,
            sqlState: self.sqlState,
            constraint: self.constraint,
            endsSession: self.severity == "FATAL" || self.severity == "PANIC",
            // "cached plan must not change result type": its state is that of all that the server can't do, and its words
            // may be translated.
            hasStalePlan: self.sqlState == "0A000" && self.routine == "RevalidateCachedQuery"
        )
    }

    var code: PostgresError.Code {
        switch self.sqlState {
        case "40001": .serialization
        case "40P01": .deadlock
        case "23505": .uniqueViolation
        case "55P03": .lockTimeout
        case "57014": .statementTimeout
        case "25006": .readOnly
        case "57P01", "57P02", "57P03": .shuttingDown
        case "3D000": .noDatabase
        case "53300", "25P03": .connection
        case "58030": .exhausted
        default:
            switch self.sqlState.prefix(2) {
            case "08": .connection
            case "53": .exhausted
            case "28": .refused
            case "23": .constraintViolation
            default: .other
            }
        }
    }

    /// The message without values. Only classes whose messages are about the schema or the server go through as they are;
    /// those of data exceptions (22), raised errors (P0) and the like quote what was sent.
    var safeMessage: String {
        switch self.sqlState {
        case "40001": return "could not serialize with a concurrent transaction"
        case "40P01": return "deadlock with another transaction"
        case "55P03": return "a lock was not to be had within lock_timeout"
        case "57014": return "the statement was cancelled by its time limit or on request"
        default: break
        }
        switch self.sqlState.prefix(2) {
        case "23":
            return self.constraint.map { "constraint \($0) is violated" } ?? "an integrity constraint is violated"
        case "08", "0A", "25", "26", "28", "3D", "3F", "42", "53", "54", "55", "57", "58":
            return self.message
        case "22": return "a value is not one that its type or function takes"
        default: return "the server reported \(self.sqlState)"
        }
    }
}
