// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The changes that wait for their thing to begin, by the thing: a thousand of them cost the next one no more than one does.
struct WaitingChanges {
    /// What waits for one thing, in log order.
    private struct Line {
        var changes: [FoldState.Waiting] = []
        /// Their places among all that wait.
        var numbers: [Int] = []
        /// The first fulfillment type that one of them states.
        var type: JSONValue?
        /// What all of them together make of the thing, as long as no type sorts any of them out; nil for fulfillments, which
        /// don't begin without a type.
        var merge: MemberMerge?
    }

    private var lines: [Change.Subject: Line] = [:]
    private var lastNumber = 0
    /// How many wait.
    private(set) var count = 0

    init(_ changes: [FoldState.Waiting]) {
        for change in changes { append(change) }
    }

    /// All of them in log order.
    var all: [FoldState.Waiting] {
        if count == 0 { return [] }
        var numbered: [(number: Int, change: FoldState.Waiting)] = []
        numbered.reserveCapacity(count)
        for line in lines.values { numbered += zip(line.numbers, line.changes).map { ($0, $1) } }
        numbered.sort { $0.number < $1.number }
        return numbered.map(\.change)
    }

    /// What waits for a thing, in log order.
    func changes(of subject: Change.Subject) -> [FoldState.Waiting] { lines[subject]?.changes ?? [] }

    /// The first fulfillment type that is stated by what waits for a thing.
    func type(of subject: Change.Subject) -> JSONValue? { lines[subject]?.type }

    /// What those that wait make of their thing together; nil when a type may sort some of them out, or nothing waits.
    func merge(of subject: Change.Subject) -> MemberMerge? { lines[subject]?.merge }

    mutating func append(_ change: FoldState.Waiting) {
        lastNumber += 1
        count += 1
        let subject = change.change.subject
        var line = lines.removeValue(forKey: subject) ?? Line()
        let isFirst = line.changes.isEmpty
        let type = change.change.members?["fulfillmentType"]
        if type == nil, isFirst || line.merge != nil {
            if case .fulfillment = subject {
            } else {
                var merge = line.merge ?? MemberMerge(subject, onto: subject.bareObject)
                line.merge = nil
                merge.apply(change.change.members ?? JSONObject(), isCorrection: change.isCorrection)
                line.merge = merge
            }
        } else {
            line.merge = nil
        }
        line.changes.append(change)
        line.numbers.append(lastNumber)
        if line.type == nil { line.type = type }
        lines[subject] = line
    }

    mutating func removeAll(of subject: Change.Subject) {
        if count == 0 { return }
        count -= lines.removeValue(forKey: subject)?.changes.count ?? 0
    }

    /// Whether the same changes wait in the same order.
    func isSame(as other: Self) -> Bool {
        count == other.count && lines.count == other.lines.count
            && lines.allSatisfy { subject, line in line.changes == other.lines[subject]?.changes }
    }
}

extension Change.Subject {
    /// A thing of which nothing but its identity is known.
    var bareObject: JSONObject {
        var object = JSONObject()
        if let identifierName, let identifier { object[identifierName] = .string(identifier) }
        return object
    }
}
