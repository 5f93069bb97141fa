// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// What became of entries, by identifier. Identifiers are compared by their bytes, as the store and senders do: two that
/// only look alike are two events.
public struct Verdicts: Sendable, Hashable {
    private var byIdentifier: [ExactKey: Verdict] = [:]

    /// Of no entry.
    public init() {}

    /// What became of the entry with this identifier; nil when it is not among those that this is about.
    public internal(set) subscript(identifier: String) -> Verdict? {
        get { byIdentifier[ExactKey(identifier)] }
        set { byIdentifier[ExactKey(identifier)] = newValue }
    }

    /// Whether this is about no entry.
    public var isEmpty: Bool { byIdentifier.isEmpty }

    /// Others in the place of these.
    func map(_ other: (ExactKey, Verdict) -> Verdict) -> Verdicts {
        var copy = self
        for (identifier, verdict) in byIdentifier { copy.byIdentifier[identifier] = other(identifier, verdict) }
        return copy
    }

    /// Takes others over these.
    mutating func merge(_ others: Verdicts) { byIdentifier.merge(others.byIdentifier) { $1 } }
}

extension Verdicts: ExpressibleByDictionaryLiteral {
    /// Verdicts by identifier; of several with one identifier the last counts.
    public init(dictionaryLiteral elements: (String, Verdict)...) {
        for (identifier, verdict) in elements { self[identifier] = verdict }
    }
}
