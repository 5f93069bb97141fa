// SPDX-License-Identifier: Apache-2.0

/// A regular expression as a nondeterministic automaton (Thompson's construction), read forwards or backwards.
struct PatternProgram: Sendable {
    enum Step: Sendable {
        /// Consumes one character of a set.
        case set(Int)
        /// Goes on at two places.
        case split(Int, Int)
        case jump(Int)
        case edge(PatternEdge)
        /// Goes on where a look around holds, by its number.
        case look(Int, negated: Bool)
        case accept
    }

    /// A look around's own automaton. One ahead is read backwards from the end of the text, so that one pass tells
    /// every place where it holds.
    struct Look: Sendable {
        let program: PatternProgram
        let behind: Bool
    }

    /// The largest automaton: repeats such as `(a{1000}){1000}` would otherwise take memory without bound.
    static let maximumSteps = 50_000

    private(set) var steps: [Step] = []
    private(set) var sets: [ScalarSet] = []
    let backwards: Bool

    init(_ tree: PatternTree, backwards: Bool = false, looks: inout [Look]) throws(PatternError) {
        self.backwards = backwards
        try emit(tree, &looks)
        steps.append(.accept)
    }

    private mutating func emit(_ tree: PatternTree, _ looks: inout [Look]) throws(PatternError) {
        guard steps.count < Self.maximumSteps else {
            throw PatternError(column: 1, message: "The expression is too large; use smaller repeats.")
        }
        switch tree {
        case .set(let set):
            steps.append(.set(sets.count))
            sets.append(set)
        case .edge(let edge):
            steps.append(.edge(edge))
        case .sequence(let parts):
            for part in backwards ? parts.reversed() : parts { try emit(part, &looks) }
        case .choice(let branches):
            var ends: [Int] = []
            for branch in branches.dropLast() {
                let split = steps.count
                steps.append(.accept)
                try emit(branch, &looks)
                ends.append(steps.count)
                steps.append(.accept)
                steps[split] = .split(split + 1, steps.count)
            }
            if let last = branches.last { try emit(last, &looks) }
            for end in ends { steps[end] = .jump(steps.count) }
        case .repetition(let body, let minimum, let maximum):
            for _ in 0..<minimum {
                let before = steps.count
                try emit(body, &looks)
                // What adds no step consumes nothing: once is as good as often. Else nested repeats of nothing would go
                // on without end, and never come near the bound.
                if steps.count == before { break }
            }
            if let maximum {
                var splits: [Int] = []
                for _ in minimum..<max(minimum, maximum) {
                    splits.append(steps.count)
                    steps.append(.accept)
                    try emit(body, &looks)
                }
                for split in splits { steps[split] = .split(split + 1, steps.count) }
            } else {
                let split = steps.count
                steps.append(.accept)
                try emit(body, &looks)
                steps.append(.jump(split))
                steps[split] = .split(split + 1, steps.count)
            }
        case .look(let body, let behind, let negated):
            guard looks.count < 50 else {
                throw PatternError(column: 1, message: "The expression has too many look arounds.")
            }
            // Inner ones come first in the list, so that they are known when an outer one runs.
            let program = try PatternProgram(body, backwards: !behind, looks: &looks)
            steps.append(.look(looks.count, negated: negated))
            looks.append(Look(program: program, behind: behind))
        }
    }
}
