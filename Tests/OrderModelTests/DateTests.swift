// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OrderModel

@Suite struct DateTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2026-11-30T04:07:15Z", 1_796_011_635),
            ("2024-02-01T19:45:50+00:00", 1_706_816_750), ("2026-01-01T00:30:00+01:00", 1_767_223_800),
            ("2025-12-31T18:30:00-05:00", 1_767_223_800), ("1969-12-31T23:59:59Z", -1),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2017-01-01T00:59:60+01:00", 1_483_228_800), ("2020-04-26t02:10:09z", 1_587_867_009),
        ] as [(String, Int64)]
    )
    func `a date is the right second`(_ text: String, _ seconds: Int64) throws {
        #expect(try OrderDate(parsing: text).seconds == seconds)
    }

    @Test(
        arguments: [
            ("2018-08-11T00:00:00", .noZone), ("1980-05-07T10:30-05:00", .noSeconds), ("1980-05-07T10:30", .noSeconds),
            ("2019-09-14T16:00:00+0000", .badZone), ("2022-03-05T13:30:00 11:00", .badZone),
            ("2022-01-21T00:00:00ZZ", .badZone),
            ("2026-02-29T00:00:00Z", .range), ("2026-13-01T00:00:00Z", .range), ("2026-01-01T24:00:00Z", .range),
            ("2026-01-01T00:00:60Z", .range), ("/Date(1487415600000-0000)/", .form), ("", .form), ("2026-01-01", .form),
            ("2026-01-01 00:00:00Z", .form), ("2026-01-01T00:00:00.Z", .form), ("２026-01-01T00:00:00Z", .form),
            ("2026-01-01T00:00:00+24:00", .badZone),
        ] as [(String, OrderDate.Fault)]
    )
    func `what is no date says why`(_ text: String, _ fault: OrderDate.Fault) {
        #expect(throws: fault) { try OrderDate(parsing: text) }
    }

    @Test func `a date is written as it was read, to the microsecond where it matters`() throws {
        var seconds: Int64 = -62_167_219_200
        while seconds < 253_402_300_799 {
            let text = OrderDate(seconds: seconds).text
            #expect(try OrderDate(parsing: text).seconds == seconds)
            seconds += 86_400 * 97 + 12_345
        }
        #expect(try OrderDate(parsing: "2026-01-01T00:00:00.1234567Z").preciseText == "2026-01-01T00:00:00.123456Z")
        #expect(try OrderDate(parsing: "1969-12-31T23:59:59.5Z").seconds == -1)
        #expect(OrderDate(seconds: .max).text == "9999-12-31T23:59:59Z")
        #expect(OrderDate(microseconds: .min).text == "0000-01-01T00:00:00Z")
        #expect(throws: OrderDate.Fault.calendar) { try OrderDate(parsing: "0000-01-01T00:00:00+00:01") }
    }

    @Test func `lower case and leap seconds are noted, in dates that have them`() throws {
        let plain = try OrderDate(parsing: "2016-12-31T23:59:59Z")
        #expect(!plain.hasLowerCase && !plain.isLeapSecond && !plain.hasFraction)
        for text in ["2016-12-31t23:59:59Z", "2016-12-31T23:59:59z", "2016-12-31t23:59:59+00:00"] {
            #expect(try OrderDate(parsing: text).hasLowerCase)
        }
        let leap = try OrderDate(parsing: "2016-12-31T23:59:60Z")
        #expect(leap.isLeapSecond && !leap.hasLowerCase && leap.text == "2017-01-01T00:00:00Z")
    }

    @Test(
        arguments: [
            ("PT30M", 1800), ("P0Y0M0DT0H30M0S", 1800), ("PT2H", 7200), ("P1W", 604_800), ("P1DT12H", 129_600),
            ("PT1H1S", 3601),
            ("P", nil), ("PT", nil), ("P1DT", nil), ("30M", nil), ("PT30", nil), ("PT1M1H", nil), ("P1WT1H", nil),
            ("-PT1H", nil),
            ("PT0.5H", nil), ("PT1H ", nil), ("P1H", nil), ("PT1H1H", nil), ("PT1234567890S", nil),
        ] as [(String, Int64?)]
    )
    func `a duration has whole units in order`(_ text: String, _ seconds: Int64?) {
        #expect(ISODuration(parsing: text)?.approximateSeconds == seconds)
    }
}
