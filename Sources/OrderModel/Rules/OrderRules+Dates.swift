// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    mutating func checkOrderDates() {
        guard let created = date(order["createdAt"]), let updated = date(order["updatedAt"]) else { return }
        // Packages carry whole seconds, so fractions differ in nothing.
        if updated.seconds < created.seconds {
            add(
                .error,
                "updated-before-created",
                ["updatedAt"],
                "updatedAt (\(updated.text)) is earlier than createdAt (\(created.text)).",
                fix: "Make it equal to createdAt until the first change, and later after each."
            )
        } else if options.isFirstRevision, updated.seconds != created.seconds {
            add(
                .error,
                "updated-without-change",
                ["updatedAt"],
                "Nothing was changed yet, but updatedAt (\(updated.text)) differs from createdAt.",
                fix: "Send \(created.text), and a later moment with each change."
            )
        }
    }

    /// How far two dates may be in the wrong order. Systems that only know the day send midnight.
    private static let tolerance: Int64 = 86_400

    /// Says that a date is more than a day before one that comes first, once.
    mutating func checkSequence(_ object: JSONObject, _ place: [String], _ name: String, after earlier: [String]) {
        guard let moment = date(object[name]) else { return }
        for other in earlier {
            let value = other == "createdAt" ? order["createdAt"] : object[other]
            guard let first = date(value), moment.seconds < first.seconds - Self.tolerance else { continue }
            return add(
                .warning,
                "dates-out-of-order",
                place + [name],
                "\(name) (\(moment.text)) is before \(other)\(other == "createdAt" ? " of the order" : "")"
                    + " (\(first.text)).",
                fix: "Check year, month and time zone of both."
            )
        }
    }

    /// Says that a date tells what the status denies.
    mutating func checkStatus(
        _ object: JSONObject,
        _ place: [String],
        _ name: String,
        says what: String,
        allowed: [String],
        known: [String]
    ) {
        guard date(object[name]) != nil, let status = object["status"]?.stringValue, status.isExactly(oneOf: known),
            !status.isExactly(oneOf: allowed)
        else { return }
        add(
            .warning,
            "status-behind-date",
            place + ["status"],
            "\(name) says that \(what), but the status is \"\(status)\".",
            fix: "Set the status to \"\(allowed[0])\", or leave \(name) out until it is true."
        )
    }

    /// What the customer has to have explained: Human Interface Guidelines, "Wallet", order tracking.
    mutating func checkExplained(_ object: JSONObject, _ place: [String], statuses: [String]) {
        guard let status = object["status"]?.stringValue, status.isExactly(oneOf: statuses),
            object["statusDescription"]?.stringValue == nil
        else { return }
        add(
            .note,
            "unexplained-status",
            place + ["statusDescription"],
            "The customer sees \"\(status)\" without a reason.",
            fix: "Say in statusDescription what happened and what comes next."
        )
    }
}
