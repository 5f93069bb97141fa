// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Says where two versions of a document differ, in the grain in which events change it. Numbers differ when they are
/// written in other digits: packages show them as they were sent.
public enum DocumentDiff {
    /// One pointer for each member of the order, payment, a fulfillment or a return that differs, or for a whole thing
    /// that came (its place in the new document) or went (its place in the old one).
    public static func pointers(from before: JSONValue, to after: JSONValue) -> [JSONPointer] {
        let before = before.objectValue ?? JSONObject()
        let after = after.objectValue ?? JSONObject()
        if before.isSpelled(as: after) { return [] }
        var pointers: [JSONPointer] = []
        for name in names(before, after) where !isSame(before[name], after[name]) {
            switch ExactKey(name) {
            case "payment":
                members(before[name], after[name], at: [name], &pointers)
            case "fulfillments":
                elements(before[name], after[name], by: "fulfillmentIdentifier", list: name, &pointers)
            case "returns":
                elements(before[name], after[name], by: "returnIdentifier", list: name, &pointers)
            default: pointers.append(JSONPointer(tokens: [name]))
            }
        }
        return pointers
    }

    private static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isSpelled(as: other)
    }

    private static func names(_ before: JSONObject, _ after: JSONObject) -> [String] {
        after.keys + before.keys.filter { after[$0] == nil }
    }

    private static func members(
        _ before: JSONValue?,
        _ after: JSONValue?,
        at place: [String],
        _ pointers: inout [JSONPointer]
    ) {
        guard let old = before?.objectValue, let new = after?.objectValue else {
            pointers.append(JSONPointer(tokens: place))
            return
        }
        for name in names(old, new) where !isSame(old[name], new[name]) {
            pointers.append(JSONPointer(tokens: place + [name]))
        }
    }

    private static func elements(
        _ before: JSONValue?,
        _ after: JSONValue?,
        by identity: String,
        list: String,
        _ pointers: inout [JSONPointer]
    ) {
        let old = before?.arrayValue ?? []
        let new = after?.arrayValue ?? []
        let count = pointers.count
        let formerly = places(old, by: identity)
        var came: Set<Int> = []
        for (index, element) in new.enumerated() {
            let previous = formerly[element[identity]].map { old[$0] }
            if previous == nil { came.insert(index) }
            if !isSame(previous, element) { members(previous, element, at: [list, String(index)], &pointers) }
        }
        let presently = places(new, by: identity)
        for (index, element) in old.enumerated() where presently[element[identity]] == nil {
            let pointer = JSONPointer(tokens: [list, String(index)])
            // Where another stands now, the place is listed as one that has come.
            if !came.contains(index) { pointers.append(pointer) }
        }
        // Only the sequence differs.
        if pointers.count == count { pointers.append(JSONPointer(tokens: [list])) }
    }

    /// Where the first thing of each identity is.
    private static func places(_ list: [JSONValue], by identity: String) -> [JSONValue?: Int] {
        var places: [JSONValue?: Int] = [:]
        places.reserveCapacity(list.count)
        for (index, element) in list.enumerated() where places[element[identity]] == nil {
            places[element[identity]] = index
        }
        return places
    }
}
