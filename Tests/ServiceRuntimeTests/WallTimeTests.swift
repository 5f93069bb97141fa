// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@Suite("Wall time")
struct WallTimeTests {
    @Test(
        "is written as RFC 3339 and as an HTTP date",
        arguments: [
            (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_735_689_599, "2024-12-31T23:59:59Z", "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400, "2100-03-01T00:00:00Z", "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-1, "1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String, String)]
    )
    func forms(seconds: Int64, rfc3339: String, httpDate: String) {
        #expect(WallTime(seconds: seconds).rfc3339 == rfc3339)
        #expect(WallTime(seconds: seconds).httpDate == httpDate)
        #expect(WallTime(httpDate: httpDate)?.seconds == seconds)
    }

    @Test(
        "is read from all three forms of RFC 9110",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ]
    )
    func threeForms(text: String) {
        #expect(WallTime(httpDate: text)?.seconds == 784_111_777)
    }

    @Test(
        "is not read from anything else",
        arguments: [
            "", "0", "784111777", "784111777.25", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
            "1994-11-06T08:49:37Z", "Sun, -6 Nov 1994 08:49:37 GMT",
        ]
    )
    func garbage(text: String) {
        #expect(WallTime(httpDate: text) == nil)
    }

    @Test("agrees with itself on each day of five centuries")
    func everyDay() throws {
        for day in stride(from: Int64(-80_000), to: 110_000, by: 1) {
            let time = WallTime(seconds: day * 86_400 + 45_296)
            let c = time.calendar
            let back = WallTime(
                year: c.year,
                month: c.month,
                day: c.day,
                hour: c.hour,
                minute: c.minute,
                second: c.second
            )
            try #require(back == time)
        }
    }

    @Test("beyond the years 0 to 9999 it is written as the nearest moment that can be written")
    func extremes() {
        for seconds in [Int64.min, -62_167_219_201, -62_167_219_200] {
            #expect(WallTime(seconds: seconds).rfc3339 == "0000-01-01T00:00:00Z")
        }
        for seconds in [Int64.max, 253_402_300_800, 253_402_300_799] {
            #expect(WallTime(seconds: seconds).httpDate == "Fri, 31 Dec 9999 23:59:59 GMT")
        }
    }
}
