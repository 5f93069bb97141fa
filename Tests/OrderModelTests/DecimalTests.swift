// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OrderModel

@Suite struct DecimalTests {
    @Test func `sums and products are exact`() throws {
        let tenth = try #require(DecimalAmount("0.1"))
        let fifth = try #require(DecimalAmount("0.2"))
        #expect(tenth.adding(fifth) == DecimalAmount("0.3"))
        #expect(tenth.multiplied(by: fifth)?.description == "0.02")
        #expect(DecimalAmount("19.90") == DecimalAmount("19.9"))
        #expect(DecimalAmount("-0.05")?.description == "-0.05")
        #expect(try #require(DecimalAmount("-1")) < tenth)
    }

    @Test func `what does not fit is nil, never wrong`() throws {
        let large = try #require(DecimalAmount(String(repeating: "9", count: 32)))
        #expect(large.multiplied(by: large) == nil)
        let small = try #require(DecimalAmount("0." + String(repeating: "0", count: 29) + "1"))
        #expect(large.adding(small) == nil)
        #expect(small < large && !(large < small))
        #expect(small.multiplied(by: small) == nil)
    }

    @Test(arguments: [
        "", "-", ".5", "5.", "1,0", "1e3", "+1", "1.0.0", " 1", "NaN", "٣", String(repeating: "1", count: 33),
    ])
    func `what is no plain decimal is refused`(_ text: String) {
        #expect(DecimalAmount(text) == nil)
    }

    @Test func `currencies know their decimals`() {
        #expect(Currency.minorUnits(of: "USD") == 2 && Currency.minorUnits(of: "JPY") == 0)
        #expect(Currency.minorUnits(of: "KWD") == 3 && Currency.minorUnits(of: "XAU") == nil)
        #expect(
            !Currency.isKnown("USB") && Currency.suggestion(for: "USB") == "USD"
                && Currency.suggestion(for: "eur") == "EUR"
        )
    }

    @Test func `an amount written for people is told as programs write it`() {
        for (text, meant) in [
            ("12,50", "12.50"), ("$5", "5"), ("1.299,00 €", "1299.00"), ("1,299.00", "1299.00"),
            ("1,299,000", "1299000"),
            ("-3,5", "-3.5"), ("5.00 USD", "5.00"), (".5", "0.5"), ("-.5", "-0.5"), (",299", "0.299"), ("5.", "5"),
            ("-1.299.000,5", "-1299000.5"), ("1 299,00 €", "1299.00"), ("1’299.00", "1299.00"), ("Rs. 500", "500"),
            ("Rs.500", "500"), ("−5,50", "-5.50"), ("USD-5", "-5"), ("EUR -5", "-5"),
        ] {
            #expect(DecimalAmount.suggestion(for: text) == meant, "\(text)")
        }
        for text in [
            "1,299", "1,299.", "free", "", "1-2", ",", "--1", "5e3", "1..5", "1.23.4", "1,,000.5", "1,2.3,4",
            "1299,000,000", "US-$ 5", "A-$5",
            "1.,5", "12 50", "1:50", "10/2", ".5.5", "5 - 6", "1,299,00",
        ] {
            #expect(DecimalAmount.suggestion(for: text) == nil, "\(text)")
        }
    }
}
