// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    mutating func checkIdentifiers() {
        checkOrderIdentifier()
        checkOrderType()
        checkDuplicates("fulfillments", "fulfillmentIdentifier")
        checkDuplicates("returns", "returnIdentifier")
    }

    private mutating func checkOrderIdentifier() {
        guard let text = order["orderIdentifier"]?.stringValue, !text.isEmpty, !IdentifierRules.isURLSafe(text)
        else { return }
        do throws(IdentifierError) {
            try IdentifierRules.checkSegment(text, kind: "order identifier")
        } catch {
            return add(.error, "identifier-unreachable", ["orderIdentifier"], error.message + ".", fix: error.fix)
        }
        add(
            .warning,
            "identifier-not-url-safe",
            ["orderIdentifier"],
            "Devices put the order identifier into URLs, where some of its characters have to be escaped.",
            fix: "Use letters, digits, '-', '.', '_' and '~' only; the customer reads orderNumber instead."
        )
    }

    private mutating func checkOrderType() {
        if let text = order["orderTypeIdentifier"]?.stringValue, let type = try? OrderTypeIdentifier(text),
            !type.followsConvention
        {
            add(
                .note,
                "unusual-order-type",
                ["orderTypeIdentifier"],
                "Order type identifiers begin with \"order.\" by convention; this one does not.",
                fix: "Copy it from the UID of the Order Type ID certificate, such as order.com.example.shop."
            )
        }
    }

    private mutating func checkDuplicates(_ list: String, _ member: String) {
        var seen: [ExactKey: Int] = [:]
        for (index, element) in (order[list]?.arrayValue ?? []).enumerated() {
            guard let identifier = element[member]?.stringValue else { continue }
            if let first = seen[ExactKey(identifier)] {
                add(
                    .error,
                    "duplicate-identifier",
                    [list, String(index), member],
                    "\"\(DocumentWalk.shown(identifier))\" is already the identifier of \(list)[\(first)].",
                    fix: "Give each its own and keep it for good; devices tell changes by it."
                )
            } else {
                seen[ExactKey(identifier)] = index
            }
        }
    }

    /// The device takes both or neither: a URL without token fails to decode.
    mutating func checkWebService() {
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
}
