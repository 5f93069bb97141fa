// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// What people read: results on standard output, complaints on standard error.
enum Terminal {
    /// Prints a line of result.
    static func print(_ text: String) {
        Swift.print(text)
        Files.flushStandardOutput()
    }

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
