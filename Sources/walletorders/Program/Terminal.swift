// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Glibc
import ServiceRuntime

/// What people read: results on standard output, complaints on standard error.
enum Terminal {
    /// Prints a line of result. A result that nobody got is a failure; what a serving process prints is not its work.
    static func print(_ text: String) {
        do { try Files.writeStandardOutput(Array((text + "\n").utf8)) } catch {
            if Program.serves { return }
            if error.errno == EPIPE { ProcessSignals.endForBrokenPipe() }
            self.complain("the result can't be written: \(error)")
            exit(CommandFailure.Code.unavailable.rawValue)
        }
    }

    /// Prints a result for programs, on one line.
    static func print(json: JSONValue) { self.print(String(decoding: json.serialized(), as: UTF8.self)) }

    /// Says what is wrong.
    static func complain(_ text: String) {
        Files.writeStandardError("walletorders: \(text)\n")
    }

    /// A terminal's own control characters are no part of what came from outside.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { ($0.value < 0x20 && $0.value != 0x0a) || $0.value == 0x7f ? "\u{fffd}" : $0 }
            )
        )
    }
}
