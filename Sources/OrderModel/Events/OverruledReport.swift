// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// A status that an event had reported of a thing before an edit added it with an earlier one, so that the edit's is shown.
public struct OverruledReport: Sendable, Hashable {
    /// The event's identifier.
    public let eventIdentifier: String
    /// The status that it named.
    public let status: String
    /// Where the document has the edit's status.
    public let pointer: JSONPointer
}

extension OverruledReport {
    /// The newest status of those that waited, if it is further than the one of the addition, which is shown.
    init?(_ addition: Change, waited: [FoldState.Waiting], shownIn document: JSONValue) {
        let progress = addition.subject.progress
        func rank(_ status: String) -> Int { progress.firstIndex { status.isExactly($0) } ?? -1 }
        guard let said = addition.members?["status"]?.stringValue,
            let newest = waited.last(where: { $0.change.members?["status"]?.stringValue != nil }),
            let status = newest.change.members?["status"]?.stringValue, rank(status) > rank(said),
            let place = addition.subject.place(in: document),
            document.at(place)?["status"]?.stringValue?.isExactly(said) == true
        else { return nil }
        self.eventIdentifier = newest.entry
        self.status = status
        self.pointer = JSONPointer(tokens: place.tokens + ["status"])
    }
}

extension Change.Subject {
    /// Where a document has the thing; nil when it has not.
    func place(in document: JSONValue) -> JSONPointer? {
        guard let listName, let identifierName, let identifier else {
            guard case .payment = self, document["payment"] != nil else { return nil }
            return JSONPointer(tokens: ["payment"])
        }
        let index = document[listName]?.arrayValue?.firstIndex {
            $0[identifierName]?.stringValue?.isExactly(identifier) == true
        }
        return index.map { JSONPointer(tokens: [listName, String($0)]) }
    }
}
