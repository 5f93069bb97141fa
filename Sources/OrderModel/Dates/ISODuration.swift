// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// A length of time as Apple's documents write it: ISO 8601, such as `PT30M` or `P0Y0M0DT0H30M0S`.
public struct ISODuration: Sendable, Hashable {
    /// The text as it was sent; it goes into packages unchanged.
    public let text: String
    /// The whole length in seconds, a year counted as 365 days and a month as 30.
    public let approximateSeconds: Int64

    /// Reads whole numbers of years, months, days, hours, minutes and seconds, or of weeks, each unit at most once and in
    /// this order.
    ///
    /// It throws where it could be nil: the fields that hold a duration are optional, and a misspelt one would vanish.
    ///
    /// - Throws: ``InvalidOrderError`` with `bad-duration`.
    public init(_ text: String) throws(InvalidOrderError) {
        self = try .checked(.string(text), as: .duration)
    }

    /// nil when the text is no duration.
    init?(parsing text: String) {
        guard text.utf8.count <= 64 else { return nil }
        var reader = DigitReader(Array(text.utf8))
        guard reader.take("P") else { return nil }
        let dayUnits: [(Unicode.Scalar, Int64)] = [("Y", 31_536_000), ("M", 2_592_000), ("W", 604_800), ("D", 86_400)]
        let timeUnits: [(Unicode.Scalar, Int64)] = [("H", 3600), ("M", 60), ("S", 1)]
        var seconds: Int64 = 0
        var found = 0
        var inTime = false
        var weeks = false
        var next = 0
        while !reader.isAtEnd {
            if reader.take("T") {
                if inTime || reader.isAtEnd { return nil }
                inTime = true
                next = 0
                continue
            }
            guard let value = reader.digits(limit: 9) else { return nil }
            let units = inTime ? timeUnits : dayUnits
            guard let index = (next..<units.count).first(where: { reader.take(units[$0].0) }) else { return nil }
            if !inTime, index == 2 { weeks = true }
            seconds += Int64(value) * units[index].1
            next = index + 1
            found += 1
        }
        // Weeks stand alone.
        guard found > 0, !weeks || found == 1 else { return nil }
        self.text = text
        self.approximateSeconds = seconds
    }
}

extension ISODuration: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .string(let text) = value, let duration = ISODuration(parsing: text) else { throw FieldFault() }
        self = duration
    }

    var field: JSONValue { .string(text) }
}
