// SPDX-License-Identifier: Apache-2.0

/// A regular expression worked out to a table: one look-up a character, for texts in ASCII.
///
/// Built only for small expressions without word boundaries and look arounds, which are most; others, and texts
/// beyond ASCII, are followed step by step.
struct PatternTable: Sendable {
    /// Bounds that keep building cheap, since expressions may come from senders (`format: regex`).
    private static let maximumStates = 64
    private static let maximumSteps = 500

    /// The class of each ASCII character: characters of one class are in the same sets.
    private let classes: [UInt8]
    private let classCount: Int
    /// For each state and class, the next state.
    private var next: [UInt8] = []
    /// For each state, whether the expression matches already, and whether it does if the text ends here.
    private var matchesHere: [Bool] = []
    private var matchesAtEnd: [Bool] = []

    /// A state: the steps where attempts are, before those that consume nothing are followed.
    private struct State: Hashable {
        let isStart: Bool
        let steps: Set<Int>
    }

    init?(_ program: PatternProgram) {
        guard program.steps.count <= Self.maximumSteps, Self.isSimple(program) else { return nil }
        (classes, classCount) = Self.classes(program.sets)
        let samples = (0..<classCount).map { number in classes.firstIndex(of: UInt8(number)) ?? 0 }
        var states = [State(isStart: true, steps: [0])]
        var numbers = [states[0]: 0]
        var current = 0
        while current < states.count {
            let state = states[current]
            let (consuming, accepts) = Self.follow(program, state, atEnd: false)
            matchesHere.append(accepts)
            matchesAtEnd.append(accepts || Self.follow(program, state, atEnd: true).accepts)
            for sample in samples {
                // A new attempt starts at every place.
                var steps: Set<Int> = [0]
                for (step, set) in consuming where program.sets[set].contains(UInt32(sample)) { steps.insert(step + 1) }
                let following = State(isStart: false, steps: steps)
                if numbers[following] == nil {
                    guard states.count < Self.maximumStates else { return nil }
                    numbers[following] = states.count
                    states.append(following)
                }
                next.append(UInt8(numbers[following] ?? 0))
            }
            current += 1
        }
    }

    /// Whether the expression matches somewhere in a text; nil when the text is not all ASCII.
    func matches(_ text: String) -> Bool? {
        let bytes = text.utf8.span
        var state = 0
        for index in bytes.indices {
            if matchesHere[state] { return true }
            let byte = Int(bytes[index])
            guard byte < 128 else { return nil }
            state = Int(next[state * classCount + Int(classes[byte])])
        }
        return matchesAtEnd[state]
    }

    private static func isSimple(_ program: PatternProgram) -> Bool {
        program.steps.allSatisfy { step in
            switch step {
            case .look, .edge(.wordBoundary), .edge(.noWordBoundary): false
            default: true
            }
        }
    }

    private static func classes(_ sets: [ScalarSet]) -> ([UInt8], Int) {
        var numbers: [[Bool]: UInt8] = [:]
        let classes = (0..<128 as Range<UInt32>).map { value in
            let membership = sets.map { $0.contains(value) }
            let number = numbers[membership] ?? UInt8(numbers.count)
            numbers[membership] = number
            return number
        }
        return (classes, numbers.count)
    }

    /// The consuming steps reachable without consuming, and whether the end of the expression is.
    private static func follow(
        _ program: PatternProgram,
        _ state: State,
        atEnd: Bool
    ) -> (consuming: [(step: Int, set: Int)], accepts: Bool) {
        var reached = Set<Int>()
        var stack = Array(state.steps)
        var consuming: [(step: Int, set: Int)] = []
        var accepts = false
        while let step = stack.popLast() {
            guard reached.insert(step).inserted else { continue }
            switch program.steps[step] {
            case .accept: accepts = true
            case .set(let set): consuming.append((step, set))
            case .jump(let target): stack.append(target)
            case .split(let one, let other): stack.append(contentsOf: [one, other])
            case .edge(.start): if state.isStart { stack.append(step + 1) }
            case .edge(.end): if atEnd { stack.append(step + 1) }
            case .edge, .look: break
            }
        }
        return (consuming, accepts)
    }
}
