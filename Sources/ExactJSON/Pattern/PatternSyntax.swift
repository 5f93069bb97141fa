// SPDX-License-Identifier: Apache-2.0

/// A regular expression as a tree. Greedy and lazy repeats are the same here: only whether a text matches counts.
indirect enum PatternTree: Sendable {
    case set(ScalarSet)
    case sequence([PatternTree])
    case choice([PatternTree])
    case repetition(PatternTree, minimum: Int, maximum: Int?)
    case look(PatternTree, behind: Bool, negated: Bool)
    case edge(PatternEdge)
}

/// A place between two characters.
enum PatternEdge: Sendable, Hashable {
    case start, end, wordBoundary, noWordBoundary
}

/// Why a regular expression is not taken.
package struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where, in characters from 1.
    package let column: Int
    /// What is wrong and what to write instead.
    package let message: String

    /// `character 3: …`.
    package var description: String { "character \(column): \(message)" }
}

/// Reads the syntax of ECMA-262 regular expressions with the `u` flag, which JSON Schema's `pattern` uses.
///
/// Left out: back references, which no linear-time matcher can have, and Unicode properties that the standard
/// library has no data for (scripts).
struct PatternSyntax {
    private let source: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    /// How deep groups may nest.
    private static let maximumDepth = 100
    /// The largest bound of a repeat.
    private static let maximumRepeat = 10_000

    init(_ text: String) { source = Array(text.unicodeScalars) }

    /// Reads the whole expression.
    mutating func tree() throws(PatternError) -> PatternTree {
        let tree = try choice()
        if index < source.count { throw fault("A ) closes here that is not open; write \\) for the character itself.") }
        return tree
    }

    private func fault(_ message: String, at place: Int? = nil) -> PatternError {
        PatternError(column: (place ?? index) + 1, message: message)
    }

    private func at(_ scalar: Unicode.Scalar, _ ahead: Int = 0) -> Bool {
        index + ahead < source.count && source[index + ahead] == scalar
    }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard index + wanted.count <= source.count, Array(source[index..<(index + wanted.count)]) == wanted else {
            return false
        }
        index += wanted.count
        return true
    }

    private mutating func choice() throws(PatternError) -> PatternTree {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternError) -> PatternTree {
        var parts: [PatternTree] = []
        while index < source.count, !at("|"), !at(")") { parts.append(try term()) }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func term() throws(PatternError) -> PatternTree {
        let start = index
        if take("^") { return .edge(.start) }
        if take("$") { return .edge(.end) }
        if take("\\b") { return .edge(.wordBoundary) }
        if take("\\B") { return .edge(.noWordBoundary) }
        let atom: PatternTree
        if take("(") {
            depth += 1
            guard depth <= Self.maximumDepth else { throw fault("Groups nest too deep.", at: start) }
            atom = try group(start)
            depth -= 1
        } else if take(".") {
            atom = .set(ScalarSet.lineBreaks.inverted)
        } else if take("[") {
            atom = .set(try characterClass(start))
        } else if at("\\") {
            atom = .set(try escape(inClass: false))
        } else if at("*") || at("+") || at("?") || at("{") {
            throw fault("Nothing stands here to be repeated; write \\\(source[index]) for the character itself.")
        } else if at("]") || at("}") {
            throw fault("Write \\\(source[index]) for the character itself.")
        } else {
            atom = .set(ScalarSet(source[index]))
            index += 1
        }
        return try quantified(atom)
    }

    private mutating func group(_ start: Int) throws(PatternError) -> PatternTree {
        var look: (behind: Bool, negated: Bool)?
        if take("?=") {
            look = (false, false)
        } else if take("?!") {
            look = (false, true)
        } else if take("?<=") {
            look = (true, false)
        } else if take("?<!") {
            look = (true, true)
        } else if take("?<") {
            guard take(">") == false else { throw fault("A group's name is missing.") }
            while index < source.count, !at(">") {
                let scalar = source[index]
                guard scalar.properties.isIDContinue || scalar == "$" else {
                    throw fault("A group's name holds letters and digits only.")
                }
                index += 1
            }
            guard take(">") else { throw fault("A group's name ends with >.") }
        } else if at("?"), !take("?:") {
            throw fault("No such group; write (…), (?:…), (?=…), (?!…), (?<=…) or (?<!…).")
        }
        let inside = try choice()
        guard take(")") else {
            throw fault("A group is open; close it with ), or write \\( for the character.", at: start)
        }
        guard let look else { return inside }
        return .look(inside, behind: look.behind, negated: look.negated)
    }

    private mutating func quantified(_ atom: PatternTree) throws(PatternError) -> PatternTree {
        var minimum = 0
        var maximum: Int?
        let start = index
        if take("*") {
            maximum = nil
        } else if take("+") {
            minimum = 1
        } else if take("?") {
            maximum = 1
        } else if take("{") {
            guard let least = number() else {
                throw fault("Write a number, as in {2} or {1,3}, or \\{ for the character.")
            }
            minimum = least
            maximum = least
            if take(",") { maximum = at("}") ? nil : number() ?? -1 }
            guard take("}") else { throw fault("A repeat ends with }.") }
            if let maximum, maximum < minimum {
                throw fault("The bounds of the repeat are the wrong way round.", at: start)
            }
            guard max(minimum, maximum ?? 0) <= Self.maximumRepeat else {
                throw fault("A repeat goes up to \(Self.maximumRepeat).", at: start)
            }
        } else {
            return atom
        }
        if case .look = atom { throw fault("A look around cannot be repeated.", at: start) }
        _ = take("?")  // lazy: the same set of texts
        if at("*") || at("+") || at("?") || at("{") {
            throw fault("Two repeats follow each other; put a group around.")
        }
        return .repetition(atom, minimum: minimum, maximum: maximum)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while index < source.count, let digit = source[index].asciiDigit {
            value = min((value ?? 0) * 10 + digit, 1_000_000)
            index += 1
        }
        return value
    }

    private mutating func characterClass(_ start: Int) throws(PatternError) -> ScalarSet {
        let negated = take("^")
        var set = ScalarSet()
        while !take("]") {
            guard index < source.count else {
                throw fault("A class is open; close it with ], or write \\[ for the character.", at: start)
            }
            let first = try classAtom()
            if at("-"), !at("]", 1), index + 1 < source.count {
                let dash = index
                index += 1
                let last = try classAtom()
                guard let low = first.only, let high = last.only else {
                    throw fault("A range runs between two characters; write \\- for the dash itself.", at: dash)
                }
                guard low <= high else { throw fault("The range is the wrong way round.", at: dash) }
                set.formUnion(ScalarSet(low...high))
            } else {
                set.formUnion(first)
            }
        }
        return negated ? set.inverted : set
    }

    private mutating func classAtom() throws(PatternError) -> ScalarSet {
        if at("\\") { return try escape(inClass: true) }
        guard index < source.count else { throw fault("A class is open; close it with ].") }
        index += 1
        return ScalarSet(source[index - 1])
    }

    private mutating func escape(inClass: Bool) throws(PatternError) -> ScalarSet {
        let start = index
        index += 1
        guard index < source.count else {
            throw fault("A backslash stands at the end; write \\\\ for itself.", at: start)
        }
        let scalar = source[index]
        index += 1
        switch scalar {
        case "d": return .digits
        case "D": return ScalarSet.digits.inverted
        case "w": return .wordCharacters
        case "W": return ScalarSet.wordCharacters.inverted
        case "s": return .whiteSpace
        case "S": return ScalarSet.whiteSpace.inverted
        case "t": return ScalarSet("\t")
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "v": return ScalarSet("\u{B}")
        case "f": return ScalarSet("\u{C}")
        case "b" where inClass: return ScalarSet("\u{8}")
        case "0" where index >= source.count || source[index].asciiDigit == nil: return ScalarSet("\0")
        case "c":
            guard index < source.count, case let letter = source[index], letter.isASCII, letter.properties.isAlphabetic
            else { throw fault("\\c is followed by a letter.", at: start) }
            index += 1
            return ScalarSet(letter.value % 32...letter.value % 32)
        case "x":
            guard let value = hexadecimal(2) else { throw fault("\\x needs two hexadecimal digits.", at: start) }
            return ScalarSet(value...value)
        case "u":
            return ScalarSet(try unicode(start))
        case "p", "P":
            return try property(start, negated: scalar == "P")
        case "1"..."9", "k":
            throw fault("Back references are not supported; spell the alternatives out.", at: start)
        default:
            guard scalar.isASCII, !scalar.properties.isAlphabetic, scalar.asciiDigit == nil, scalar.value > 0x20 else {
                throw fault("There is no escape \\\(scalar); leave the backslash out.", at: start)
            }
            return ScalarSet(scalar)
        }
    }

    private mutating func hexadecimal(_ count: Int) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard index < source.count, source[index].isASCII, let digit = Character(source[index]).hexDigitValue
            else { return nil }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    private mutating func unicode(_ start: Int) throws(PatternError) -> ClosedRange<UInt32> {
        let wrong = "\\u needs four hexadecimal digits, or \\u{…} with up to 10FFFF."
        if take("{") {
            var value: UInt32 = 0
            var count = 0
            while count < 8, let digit = hexadecimal(1) {
                value = value << 4 | digit
                count += 1
            }
            guard count > 0, value <= 0x10FFFF, take("}") else { throw fault(wrong, at: start) }
            return value...value
        }
        guard let first = hexadecimal(4) else { throw fault(wrong, at: start) }
        if 0xD800...0xDBFF ~= first, at("\\"), at("u", 1) {
            let resume = index
            index += 2
            if let second = hexadecimal(4), 0xDC00...0xDFFF ~= second {
                let value = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
                return value...value
            }
            index = resume
        }
        return first...first
    }

    private mutating func property(_ start: Int, negated: Bool) throws(PatternError) -> ScalarSet {
        guard take("{") else { throw fault("\\p is followed by a property in braces, such as \\p{L}.", at: start) }
        var name = ""
        while index < source.count, !at("}"), name.unicodeScalars.count < 60 {
            name.unicodeScalars.append(source[index])
            index += 1
        }
        guard take("}") else { throw fault("A property ends with }.", at: start) }
        for prefix in ["General_Category=", "gc="] where name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
        guard let set = ScalarSet(property: name) else {
            throw fault("The Unicode property is not known; general categories are, such as L, Lu or Nd.", at: start)
        }
        return negated ? set.inverted : set
    }
}

extension Unicode.Scalar {
    /// The value of an ASCII digit.
    var asciiDigit: Int? { value &- 0x30 <= 9 ? Int(value - 0x30) : nil }
}
