// SPDX-License-Identifier: Apache-2.0

/// Dates, times and durations by RFC 3339 (section 5.6 and appendix A).
enum TimeFormat {
    static func isDateTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 11, bytes[10] | 0x20 == UInt8(ascii: "t") else { return false }
        return isDate(bytes[..<10]) && isTime(bytes[11...])
    }

    static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10])
        else { return false }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && day >= 1 && day <= lengths[month - 1]
    }

    static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count >= 9, bytes[2] == UInt8(ascii: ":"), bytes[5] == UInt8(ascii: ":"),
            let hour = number(bytes[0..<2]), let minute = number(bytes[3..<5]), let second = number(bytes[6..<8]),
            hour <= 23, minute <= 59, second <= 60
        else { return false }
        var index = 8
        if bytes[index] == UInt8(ascii: ".") {
            index += 1
            let start = index
            while index < bytes.count, TextFormat.isDigit(bytes[index]) { index += 1 }
            guard index > start else { return false }
        }
        guard index < bytes.count else { return false }
        var offset = 0
        switch bytes[index] {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"):
            guard index + 1 == bytes.count else { return false }
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard index + 6 == bytes.count, bytes[index + 3] == UInt8(ascii: ":"),
                let hours = number(bytes[(index + 1)..<(index + 3)]),
                let minutes = number(bytes[(index + 4)..<(index + 6)]), hours <= 23, minutes <= 59
            else { return false }
            offset = (hours * 60 + minutes) * (bytes[index] == UInt8(ascii: "+") ? 1 : -1)
        default:
            return false
        }
        // A leap second is added at midnight UTC only.
        return second < 60 || (hour * 60 + minute - offset + 2880) % 1440 == 1439
    }

    /// The grammar of appendix A: units in order, none left out between two.
    static func isDuration(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == UInt8(ascii: "P"), bytes.count > 2 else { return false }
        var index = 1
        var units: [UInt8] = []
        var timeUnits: [UInt8] = []
        var inTime = false
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "T"), !inTime {
                inTime = true
                index += 1
            }
            let start = index
            while index < bytes.count, TextFormat.isDigit(bytes[index]) { index += 1 }
            guard index > start, index < bytes.count else { return false }
            if inTime { timeUnits.append(bytes[index]) } else { units.append(bytes[index]) }
            index += 1
        }
        if units == [UInt8(ascii: "W")] { return !inTime }
        return isRun(units, of: Array("YMD".utf8)) && isRun(timeUnits, of: Array("HMS".utf8))
    }

    /// Whether units follow each other without a gap, such as `MD` of `YMD`.
    private static func isRun(_ units: [UInt8], of all: [UInt8]) -> Bool {
        guard let first = units.first else { return true }
        guard let start = all.firstIndex(of: first), start + units.count <= all.count else { return false }
        return Array(all[start..<(start + units.count)]) == units
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for byte in bytes {
            guard TextFormat.isDigit(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
