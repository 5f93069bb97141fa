// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

func number(_ text: String) throws -> JSONNumber { try #require(JSONNumber(text), "\(text)") }

@Suite("Number")
struct JSONNumberTests {
    @Test("keeps its text", arguments: ["19.90", "-0.00", "1e3", "1E+05", "0"])
    func text(text: String) throws {
        #expect(try number(text).text == text)
    }

    @Test(
        "is made from JSON's grammar only",
        arguments: ["", "1.", ".5", "+1", "01", "1e", "1 ", " 1", "NaN", "1,5", "٣"]
    )
    func grammar(text: String) {
        #expect(JSONNumber(text) == nil)
    }

    @Test(
        "is equal by value, with an equal hash",
        arguments: [
            ("1", "1.0"), ("1.10", "1.1"), ("1e3", "1000"), ("-0", "0"), ("0e999", "0.000"), ("100e-2", "1"),
            ("12345678901234567890.120", "12345678901234567890.12"), ("1e1000000000", "10e999999999"),
            ("0.1e1", "1"), ("-5.0", "-5"),
        ]
    )
    func equality(left: String, right: String) throws {
        #expect(try number(left) == number(right))
        #expect(try number(left).hashValue == number(right).hashValue)
        #expect(try !(number(left) < number(right)) && !(number(right) < number(left)))
    }

    @Test(
        "is ordered exactly",
        arguments: [
            ("1", "2"), ("-2", "-1"), ("-1", "0"), ("0", "1e-1000000000"), ("9007199254740992", "9007199254740993"),
            ("19.98999999999999488", "19.99"), ("1e1000000000", "1e1000000001"), ("-1e1000000000", "1"),
            ("-1e9", "-1e8"), ("0.09", "0.1"), ("99", "100.5"), ("9.99", "10"), ("1.0", "1.01"),
            ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455.5"),
        ]
    )
    func order(smaller: String, larger: String) throws {
        #expect(try number(smaller) < number(larger))
        #expect(try !(number(larger) < number(smaller)))
        #expect(try number(smaller) != number(larger))
    }

    @Test(
        "knows whole multiples",
        arguments: [
            ("0.3", "0.1", true), ("19.99", "0.01", true), ("19.995", "0.01", false), ("0", "7", true),
            ("10", "0", false), ("0", "0", true), ("1e1000000000", "3", false), ("1e1000000000", "7e999999999", false),
            ("1e1000000000", "0.000128", true), ("3e1000000000", "3", true), ("-9", "3", true), ("7", "0.07", true),
            ("123456789012345678901234567890", "12345678901234567890123456789", true),
            ("123456789012345678901234567891", "12345678901234567890123456789", false),
            ("1e100", "1267650600228229401496703205376", true), ("1e99", "1267650600228229401496703205376", false),
            ("1e29", "1267650600228229401496703205376", false), ("4.5", "1.5", true), ("35", "1.5", false),
            ("0.0075", "0.0001", true), ("12391239123", "1e-8", true),
        ]
    )
    func multiples(value: String, divisor: String, expected: Bool) throws {
        #expect(try number(value).isMultiple(of: number(divisor)) == expected)
    }

    @Test(
        "gives a whole value of 64 bits, else none",
        arguments: [
            ("1", 1), ("1.0", 1), ("1e3", 1000), ("-12.50e1", -125), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.5", nil),
            ("1e19", nil), ("1e1000000000", nil), ("0e1000000000", 0), ("1e-1000000000", nil),
            ("1e18", 1_000_000_000_000_000_000),
        ] as [(String, Int64?)]
    )
    func int64(text: String, expected: Int64?) throws {
        #expect(try number(text).int64Value == expected)
    }

    @Test("spells a value out without an exponent, within a bound")
    func plainText() throws {
        #expect(try number("1e3").plainText() == "1000")
        #expect(try number("-1.25e1").plainText() == "-12.5")
        #expect(try number("1.25e-3").plainText() == "0.00125")
        #expect(try number("19.90").plainText() == "19.90")
        #expect(try number("0e5").plainText() == "0")
        #expect(try number("1e1000000000").plainText() == nil)
        #expect(try number("1e-1000000000").plainText() == nil)
        #expect(try number("1e99").plainText()?.count == 100)
        #expect(try number("1e100").plainText() == nil)
    }

    @Test("tells fraction digits, sign and wholeness")
    func shape() throws {
        #expect(try number("19.99").fractionDigitCount == 2)
        #expect(try number("19.90").fractionDigitCount == 1)
        #expect(try number("1e3").fractionDigitCount == 0)
        #expect(try number("1e400").isInteger)
        #expect(try !number("1e-1").isInteger)
        #expect(try number("10e-1").isInteger)
        #expect(try number("-0.1").isNegative)
        #expect(try !number("-0.0").isNegative)
        #expect(try number("-0.0").isZero)
    }

    @Test("is bounded on long numbers")
    func bounded() throws {
        let long = try number("1" + String(repeating: "7", count: 990) + "e1000000")
        let other = try number(String(repeating: "3", count: 990))
        // A million zeros, one by one, would take minutes.
        let time = Patience.processorTime {
            #expect(!long.isMultiple(of: other))
            #expect(long > other)
        }
        #expect(time < .seconds(5) * Patience.factor)
    }
}
