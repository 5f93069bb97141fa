// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Rules of an order that no single field can tell: they run on what can be read, also when the walk found faults.
struct OrderRules {
    let order: JSONObject
    let options: ValidationOptions
    private(set) var findings: [Finding] = []

    init(_ order: JSONObject, options: ValidationOptions) {
        self.order = order
        self.options = options
    }

    mutating func check() {
        checkIdentifiers()
        checkWebService()
        checkDates()
        checkDuplicates("fulfillments", "fulfillmentIdentifier")
        checkDuplicates("returns", "returnIdentifier")
        checkFulfillments()
        checkReturnInfo()
        var sums = SumRule(order)
        sums.check()
        findings += sums.findings
        checkTarget()
    }

    private mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ tokens: [String],
        _ message: String,
        fix: String
    ) {
        findings.append(
            Finding(severity: severity, code: code, pointer: JSONPointer(tokens: tokens), message: message, fix: fix)
        )
    }

    private mutating func checkIdentifiers() {
        if let text = order["orderIdentifier"]?.stringValue, !text.isEmpty, !IdentifierRules.isURLSafe(text) {
            add(
                .warning,
                "identifier-not-url-safe",
                ["orderIdentifier"],
                "Devices put the order identifier into URLs, where some of its characters have to be escaped.",
                fix: "Use letters, digits, '-', '.', '_' and '~' only."
            )
        }
        if let text = order["orderTypeIdentifier"]?.stringValue, let type = try? OrderTypeIdentifier(text),
            !type.followsConvention
        {
            add(
                .note,
                "unusual-order-type",
                ["orderTypeIdentifier"],
                "Order type identifiers begin with \"order.\" by convention.",
                fix: "Compare it with the Order Type ID certificate."
            )
        }
    }

    /// The device takes both or neither: a URL without token fails to decode.
    private mutating func checkWebService() {
        if options.isServiceFilled { return }
        let url = order["webServiceURL"].map { !$0.isNull } ?? false
        let token = order["authenticationToken"].map { !$0.isNull } ?? false
        if url, !token {
            add(
                .error,
                "missing-member",
                ["authenticationToken"],
                "webServiceURL needs an authenticationToken beside it.",
                fix: "Add \(FieldKind.token.advice), or leave both out for an order without updates."
            )
        }
        if token, !url {
            add(
                .error,
                "missing-member",
                ["webServiceURL"],
                "authenticationToken needs a webServiceURL beside it.",
                fix: "Add \(FieldKind.webServiceURL.advice), or leave both out for an order without updates."
            )
        }
    }

    private mutating func checkDates() {
        if let created = date(order["createdAt"]), let updated = date(order["updatedAt"]), updated < created {
            add(
                .error,
                "updated-before-created",
                ["updatedAt"],
                "updatedAt is earlier than createdAt.",
                fix: "Make it equal to createdAt until the first change, and later after each."
            )
        }
    }

    private mutating func checkDuplicates(_ list: String, _ member: String) {
        var seen: [String: Int] = [:]
        for (index, element) in (order[list]?.arrayValue ?? []).enumerated() {
            guard let identifier = element[member]?.stringValue else { continue }
            if let first = seen[identifier] {
                add(
                    .error,
                    "duplicate-identifier",
                    [list, String(index), member],
                    "The identifier is already that of \(list)[\(first)].",
                    fix: "Give each its own and keep it for good."
                )
            } else {
                seen[identifier] = index
            }
        }
    }

    private mutating func checkFulfillments() {
        for (index, element) in (order["fulfillments"]?.arrayValue ?? []).enumerated() {
            guard let object = element.objectValue else { continue }
            let place = ["fulfillments", String(index)]
            switch FulfillmentShape.type(of: object) {
            case .shipping:
                if object["trackingURL"]?.stringValue != nil, object["carrier"]?.stringValue == nil,
                    object["trackingNumber"]?.stringValue == nil
                {
                    add(
                        .note,
                        "tracking-without-carrier",
                        place,
                        "There is a tracking link but neither carrier nor tracking number; Wallet shows \"Track Shipment\".",
                        fix: "Add carrier and trackingNumber if they are known."
                    )
                }
                checkWindow(object, "estimatedDeliveryWindowDuration", start: "estimatedDeliveryAt", place)
            case .pickup:
                checkWindow(object, "pickupWindowDuration", start: "pickupAt", place)
            }
        }
    }

    private mutating func checkWindow(_ object: JSONObject, _ window: String, start: String, _ place: [String]) {
        guard object[window]?.stringValue != nil, object[start] == nil else { return }
        add(
            .warning,
            "window-without-start",
            place + [window],
            "The window has no start: \(start) is missing.",
            fix: "Add \(start), or leave the duration out."
        )
    }

    private mutating func checkReturnInfo() {
        guard let info = order["returnInfo"]?.objectValue, info["displayCountdown"]?.boolValue == true,
            info["returnDeadline"] == nil
        else { return }
        add(
            .warning,
            "countdown-without-deadline",
            ["returnInfo", "displayCountdown"],
            "A countdown needs a returnDeadline to count to.",
            fix: "Add returnDeadline."
        )
    }

    private mutating func checkTarget() {
        guard let target = options.target, target < .ios17, order["schemaVersion"]?.int64Value == 2 else { return }
        add(
            .error,
            "newer-than-target",
            ["schemaVersion"],
            "iOS \(target.rawValue) does not read schemaVersion 2.",
            fix: "Send 1."
        )
    }

    private func date(_ value: JSONValue?) -> OrderDate? {
        value?.stringValue.flatMap { try? OrderDate(parsing: $0) }
    }
}
