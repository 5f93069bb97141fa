// SPDX-License-Identifier: Apache-2.0

/// The number production of RFC 8259 section 6: `[-] int [frac] [exp]`.
enum JSONNumberGrammar {
    /// What a scan found.
    enum Outcome {
        /// A number that ends before this offset.
        case number(end: Int)
        /// A fault at this offset.
        case fault(at: Int, message: String)
    }

    /// Scans the number that starts at an offset, as far as it goes.
    static func scan(_ bytes: Span<UInt8>, from start: Int) -> Outcome {
        var index = start
        func digit(_ index: Int) -> Bool { index < bytes.count && bytes[index] &- UInt8(ascii: "0") <= 9 }
        func at(_ index: Int, _ character: Unicode.Scalar) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: character)
        }

        if at(index, "-") { index += 1 }
        guard digit(index) else {
            let point = at(index, ".")
            return .fault(
                at: index,
                message: point
                    ? "A number needs a digit before the decimal point; write 0.5, not .5."
                    : "A minus sign must be followed by a digit."
            )
        }
        if at(index, "0"), digit(index + 1) {
            return .fault(at: index, message: "A number has no leading zeros; write 7, not 07, or put it in quotes.")
        }
        if at(index, "0"), at(index + 1, "x") || at(index + 1, "X") {
            return .fault(at: index, message: "JSON has no hexadecimal numbers; write the number in decimal.")
        }
        while digit(index) { index += 1 }
        if at(index, ".") {
            index += 1
            guard digit(index) else {
                return .fault(at: index, message: "A decimal point must be followed by a digit; write 5.0 or 5.")
            }
            while digit(index) { index += 1 }
        }
        if at(index, "e") || at(index, "E") {
            index += 1
            if at(index, "+") || at(index, "-") { index += 1 }
            guard digit(index) else {
                return .fault(at: index, message: "An exponent needs a digit; write 1e3.")
            }
            while at(index, "0") { index += 1 }
            let exponent = index
            while digit(index) { index += 1 }
            // 15 digits: JSONNumber.maximumExponent.
            if index - exponent > 15 {
                return .fault(at: exponent, message: "The exponent is too large; it may have up to 15 digits.")
            }
        }
        if index - start > JSONNumber.maximumLength {
            return .fault(
                at: start,
                message: "The number is longer than \(JSONNumber.maximumLength) characters."
            )
        }
        return .number(end: index)
    }
}
