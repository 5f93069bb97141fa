// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Which entry had the last word on each value of the document, while a log is folded to tell what is left of its entries.
struct LastWords {
    /// By thing and member. Only who changed a value has the word, not who said the same again.
    private var members: [Change.Subject: [ExactKey: ExactKey]] = [:]
    /// Who made a thing come or go.
    private var things: [Change.Subject: ExactKey] = [:]
    /// Who put a list into another sequence.
    private var sequences: [ExactKey: ExactKey] = [:]
    /// Entries whose status was held back by a final one.
    private var held: Set<ExactKey> = []

    /// Members of a thing have been changed by an entry.
    mutating func note(_ entry: String, _ change: Change, from before: JSONObject, to after: JSONObject) {
        for name in change.members?.keys ?? [] where before[name] != after[name] {
            members[change.subject, default: [:]][ExactKey(name)] = ExactKey(entry)
        }
        // A status takes the old description along, which is no word on it.
        let name = "statusDescription"
        if change.members?[name] == nil, before[name] != after[name] { members[change.subject]?[ExactKey(name)] = nil }
    }

    /// A thing has begun or gone: nobody else has a word on it any more.
    mutating func noteThing(_ entry: String, _ subject: Change.Subject) {
        members[subject] = nil
        things[subject] = ExactKey(entry)
    }

    /// A list stands in another sequence.
    mutating func noteSequence(_ entry: String, of list: String) { sequences[ExactKey(list)] = ExactKey(entry) }

    /// The status of an entry was held back.
    mutating func noteHeld(_ entry: String) { held.insert(ExactKey(entry)) }

    /// The order status was stated above one that followed from the fulfillments.
    mutating func noteOrderStatus(_ entry: String) {
        members[.order, default: [:]][ExactKey("status")] = ExactKey(entry)
    }

    /// What follows from the fulfillments is shown in the place of a stated member.
    mutating func coverOrder(_ name: String) { members[.order]?[ExactKey(name)] = nil }

    /// What is left of entries: those that took effect where they stand and have no word on anything now are `final` if
    /// that is what held them back, else `stale`.
    func present(_ verdicts: Verdicts) -> Verdicts {
        let speaking = Set(members.values.flatMap(\.values)).union(things.values).union(sequences.values)
        return verdicts.map { entry, verdict in
            guard verdict == .applied, !speaking.contains(entry) else { return verdict }
            return held.contains(entry) ? .final : .stale
        }
    }
}

extension OrderFold {
    /// What each entry of a log has to do with the present document.
    ///
    /// As ``FoldResult/verdicts`` say what became of entries where they stand in the log, but `applied` only for those of which
    /// something is shown still: what later entries have overruled is `stale`, or `final`.
    public func presentVerdicts(_ base: FoldBase, _ entries: [LogEntry]) -> Verdicts {
        var machine = FoldMachine(document: base.document, state: base.state, options: options, tracksWords: true)
        return machine.presentVerdicts(Self.sorted(entries))
    }
}
