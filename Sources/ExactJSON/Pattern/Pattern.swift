// SPDX-License-Identifier: Apache-2.0

/// A regular expression that takes time in proportion to the text on every input.
///
/// The syntax is that of ECMA-262 with the `u` flag, as JSON Schema's `pattern` wants it, without back references.
/// All alternatives are followed side by side, so there is no backtracking and nothing a sender could blow up:
/// at most (length of the text × size of the expression) steps. Swift's own `Regex` was not taken because it
/// backtracks, and compares by grapheme cluster.
package struct Pattern: Sendable {
    /// The expression as it was written.
    package let source: String
    private let program: PatternProgram
    private let looks: [PatternProgram.Look]
    /// The quick way for ASCII, where there is one.
    private let table: PatternTable?

    /// Compiles an expression.
    /// - Throws: What is wrong with it, and where.
    package init(_ source: String) throws(PatternError) {
        self.source = source
        var syntax = PatternSyntax(source)
        let tree = try syntax.tree()
        var looks: [PatternProgram.Look] = []
        program = try PatternProgram(tree, looks: &looks)
        self.looks = looks
        table = PatternTable(program)
    }

    /// Whether the expression matches somewhere in a text.
    package func matches(_ text: String) -> Bool { table?.matches(text) ?? follows(text) }

    /// Matches step by step, whatever the text.
    func follows(_ text: String) -> Bool {
        var scalars: [UInt32] = []
        scalars.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { scalars.append(scalar.value) }
        var tables: [[Bool]] = []
        for look in looks {
            var table = [Bool](repeating: false, count: scalars.count + 1)
            var run = PatternRun(look.program, scalars, tables)
            run.all { table[$0] = true }
            tables.append(table)
        }
        var run = PatternRun(program, scalars, tables)
        return run.any()
    }
}

/// One pass of an automaton over a text, starting a new attempt at every place.
private struct PatternRun {
    private let program: PatternProgram
    private let scalars: [UInt32]
    private let tables: [[Bool]]
    /// The steps alive at the current place that consume a character, and those at the next.
    private var current: [Int] = []
    private var next: [Int] = []
    /// The place, counted from 1, at which a step was last reached: each is followed once a place.
    private var reached: [Int]
    private var stack: [Int] = []

    init(_ program: PatternProgram, _ scalars: [UInt32], _ tables: [[Bool]]) {
        self.program = program
        self.scalars = scalars
        self.tables = tables
        reached = [Int](repeating: 0, count: program.steps.count)
    }

    /// Whether an attempt succeeds anywhere.
    mutating func any() -> Bool {
        for place in 0...scalars.count {
            if advance(place) { return true }
        }
        return false
    }

    /// Reports every place where some attempt ends.
    mutating func all(_ report: (Int) -> Void) {
        for step in 0...scalars.count {
            let place = program.backwards ? scalars.count - step : step
            if advance(place) { report(place) }
        }
    }

    /// Moves to a place: takes the character just passed, then starts a new attempt. Returns whether one ends here.
    private mutating func advance(_ place: Int) -> Bool {
        swap(&current, &next)
        next.removeAll(keepingCapacity: true)
        var accepted = follow(0, place)
        let passed = program.backwards ? place : place - 1
        guard passed >= 0, passed < scalars.count else { return accepted }
        let scalar = scalars[passed]
        for step in current {
            guard case .set(let set) = program.steps[step], program.sets[set].contains(scalar) else { continue }
            if follow(step + 1, place) { accepted = true }
        }
        return accepted
    }

    /// Follows the steps that consume nothing. Returns whether the end of the expression is among them.
    private mutating func follow(_ start: Int, _ place: Int) -> Bool {
        var accepted = false
        stack.append(start)
        while let step = stack.popLast() {
            guard reached[step] != place + 1 else { continue }
            reached[step] = place + 1
            switch program.steps[step] {
            case .accept: accepted = true
            case .set: next.append(step)
            case .jump(let target): stack.append(target)
            case .split(let one, let other):
                stack.append(other)
                stack.append(one)
            case .edge(let edge): if holds(edge, place) { stack.append(step + 1) }
            case .look(let look, let negated): if tables[look][place] != negated { stack.append(step + 1) }
            }
        }
        return accepted
    }

    private func holds(_ edge: PatternEdge, _ place: Int) -> Bool {
        switch edge {
        case .start: place == 0
        case .end: place == scalars.count
        case .wordBoundary: isWord(place - 1) != isWord(place)
        case .noWordBoundary: isWord(place - 1) == isWord(place)
        }
    }

    private func isWord(_ index: Int) -> Bool {
        scalars.indices.contains(index) && ScalarSet.wordCharacters.contains(scalars[index])
    }
}
