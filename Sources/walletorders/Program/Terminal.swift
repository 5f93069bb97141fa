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

    /// Prints JSON: for programs on one line, or laid out for people. What would be a terminal's own is escaped.
    static func print(json: JSONValue, _ style: JSONStyle = .compact) {
        var text = String.UnicodeScalarView()
        // Such characters can only stand within strings, where JSON has a second form for each.
        for scalar in String(decoding: json.serialized(style), as: UTF8.self).unicodeScalars {
            if self.isControl(scalar), scalar != "\n" {
                let digits = String(scalar.value, radix: 16)
                text.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        self.print(String(text))
    }

    /// Says what is wrong.
    static func complain(_ text: String) {
        Files.writeStandardError("walletorders: \(self.printable(text))\n")
    }

    /// A text from outside as a piece of one line: what it holds can neither begin another line nor move on the screen.
    ///
    /// Every text that is printed and isn't this program's own goes through here. It goes by code points: to Swift's
    /// characters CR LF is one, and a run of accents is one whose comparison takes the square of its length.
    static func line(_ text: String) -> String { self.plain(text) { self.isControl($0) } }

    /// The same for a message of this program's own, whose line ends are meant.
    private static func printable(_ text: String) -> String { self.plain(text) { self.isControl($0) && $0 != "\n" } }

    private static func plain(_ text: String, without isTaken: (Unicode.Scalar) -> Bool) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isTaken($0) ? "\u{fffd}" : $0 }))
    }

    /// Whether a terminal or an editor obeys the character instead of showing it: C0, DEL, C1 (ECMA-48), the separators of
    /// lines and paragraphs, and what changes the direction of the text around it (Unicode UAX 9), so that it reads otherwise
    /// than it is.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e...0x200f, 0x2028...0x2029, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
