// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    mutating func checkReturns() {
        for (place, object) in objects("returns") {
            checkExplained(object, place, statuses: ["issue", "cancelled"])
            checkStatus(
                object,
                place,
                "returnedAt",
                says: "the goods are back",
                allowed: ["completed", "processing", "issue"],
                known: ReturnStatus.names
            )
            checkSequence(object, place, "initiatedAt", after: ["createdAt"])
            checkSequence(object, place, "dropOffBy", after: ["initiatedAt", "createdAt"])
            checkSequence(object, place, "returnedAt", after: ["initiatedAt", "createdAt"])
        }
    }

    mutating func checkReturnInfo() {
        guard let info = order["returnInfo"]?.objectValue else { return }
        if info["displayCountdown"]?.boolValue == true, info["returnDeadline"].map(\.isNull) ?? true {
            add(
                .warning,
                "countdown-without-deadline",
                ["returnInfo", "displayCountdown"],
                "A countdown needs a returnDeadline to count to.",
                fix: "Add returnDeadline, or leave displayCountdown out."
            )
        }
        if order["status"] == .string(OrderStatus.cancelled.rawValue) {
            add(
                .warning,
                "return-info-without-goods",
                ["returnInfo"],
                "The order is cancelled, but the customer is told how to return its goods.",
                fix: "Take returnInfo out."
            )
        }
        checkSequence(info, ["returnInfo"], "returnDeadline", after: ["createdAt"])
    }
}
