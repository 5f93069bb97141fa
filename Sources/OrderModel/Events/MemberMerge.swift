// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Lays the members of one change over a thing, a later one winning member by member, with the rule for statuses.
struct MemberMerge {
    private let subject: Change.Subject
    private(set) var object: JSONObject
    /// The status changed its value.
    private(set) var statusMoved = false
    /// The status was held back by a final one.
    private(set) var wasHeld = false

    init(_ subject: Change.Subject, onto object: JSONObject) {
        self.subject = subject
        self.object = object
    }

    mutating func apply(_ piece: FoldState.Waiting) {
        apply(piece.change.members ?? JSONObject(), isCorrection: piece.isCorrection)
    }

    mutating func apply(_ members: JSONObject, isCorrection: Bool) {
        let present = object["status"]?.stringValue
        let reported = members["status"]?.stringValue
        let isHeld = isHeldBack(reported, by: present, isCorrection: isCorrection)
        for (name, value) in members {
            // The description belongs to the status, so it is held back with it.
            if isHeld, name.isExactly(oneOf: ["status", "statusDescription"]) { continue }
            if value.isNull {
                object.remove(name)
            } else if object[name] != value {
                // Who says the same in other digits (1.5 for 1.50) says nothing.
                object[name] = value
            }
        }
        if isHeld {
            wasHeld = true
        } else if let reported, !(present.map(reported.isExactly) ?? false) {
            statusMoved = true
            if members["statusDescription"] == nil { object.remove("statusDescription") }
        }
    }

    private func isHeldBack(_ reported: String?, by present: String?, isCorrection: Bool) -> Bool {
        guard !isCorrection, let reported, let present, !reported.isExactly(present) else { return false }
        return subject.isFinal(present) && !subject.alwaysMoves(reported)
    }
}
