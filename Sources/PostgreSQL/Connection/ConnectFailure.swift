// SPDX-License-Identifier: Apache-2.0

/// Reads why a connection was refused. libpq tells it as text only.
internal enum ConnectFailure {
    /// The error for a message such as `connection to server … failed: FATAL:  3D000: database "x" does not exist`.
    static func error(from text: String) -> PostgresError {
        let line = String(text.split(separator: "\n").first ?? "no connection")
        for severity in ["FATAL:  ", "ERROR:  ", "PANIC:  "] {
            guard let range = self.range(of: severity, in: line) else { continue }
            let rest = line[range...]
            let state = rest.prefix(5)
            guard state.utf8.count == 5, state.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }) else {
                continue
            }
            let message = rest.dropFirst(5).drop { $0 == ":" || $0 == " " }
            let report = ServerReport(severity: "FATAL", sqlState: String(state), message: String(message))
            // A class that the code table does not know is still a connection that did not come about.
            let code =
                report.code == .other || report.code == .exhausted ? PostgresError.Code.connection : report.code
            return PostgresError(code, String(message), sqlState: String(state))
        }
        if line.contains("read-only") || line.contains("hot standby") {
            return PostgresError(.readOnly, line)
        }
        return PostgresError(.connection, line)
    }

    /// Where the text after `mark` begins.
    private static func range(of mark: String, in line: String) -> String.Index? {
        var rest = line[...]
        while !rest.isEmpty {
            if rest.hasPrefix(mark) { return rest.index(rest.startIndex, offsetBy: mark.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
