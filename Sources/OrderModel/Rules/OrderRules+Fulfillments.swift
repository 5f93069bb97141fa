// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    /// Statuses of things that are still on their way. `shipped` is none of them: without carrier events it is the last.
    private static let unfinished = ["open", "processing", "onTheWay", "outForDelivery", "readyForPickup"]

    mutating func checkOrderStatus() {
        checkExplained(order, [], statuses: ["cancelled"])
        guard order["status"] == .string(OrderStatus.completed.rawValue) else { return }
        for (index, element) in (order["fulfillments"]?.arrayValue ?? []).enumerated() {
            guard let status = element["status"]?.stringValue, status.isExactly(oneOf: Self.unfinished) else {
                continue
            }
            return add(
                .warning,
                "completed-too-early",
                ["status"],
                "The order is completed, but fulfillments[\(index)] is \"\(status)\"; Wallet puts it away.",
                fix: "Leave the order open until everything has arrived, or bring the fulfillment up to date."
            )
        }
    }

    mutating func checkFulfillments() {
        for (place, object) in objects("fulfillments") {
            checkExplained(object, place, statuses: ["issue", "cancelled"])
            switch FulfillmentShape.type(of: object) {
            case .shipping: checkParcel(object, place)
            case .pickup: checkPickup(object, place)
            }
        }
    }

    private mutating func checkParcel(_ object: JSONObject, _ place: [String]) {
        checkTracking(object, place)
        checkWindow(object, place, "estimatedDeliveryWindowDuration", start: "estimatedDeliveryAt")
        let known = FulfillmentStatus.shippingNames
        if object["deliveredAt"]?.stringValue != nil {
            checkStatus(
                object,
                place,
                "deliveredAt",
                says: "the parcel has arrived",
                allowed: ["delivered", "issue"],
                known: known
            )
        } else {
            checkStatus(
                object,
                place,
                "shippedAt",
                says: "the parcel has left",
                allowed: ["shipped", "onTheWay", "outForDelivery", "delivered", "issue", "cancelled"],
                known: known
            )
        }
        checkSequence(object, place, "shippedAt", after: ["createdAt"])
        checkSequence(object, place, "estimatedDeliveryAt", after: ["shippedAt", "createdAt"])
        checkSequence(object, place, "deliveredAt", after: ["shippedAt", "createdAt"])
    }

    private mutating func checkPickup(_ object: JSONObject, _ place: [String]) {
        checkWindow(object, place, "pickupWindowDuration", start: "pickupAt")
        checkStatus(
            object,
            place,
            "pickedUpAt",
            says: "the customer has the goods",
            allowed: ["pickedUp", "issue"],
            known: FulfillmentStatus.pickupNames
        )
        checkSequence(object, place, "pickupAt", after: ["createdAt"])
        checkSequence(object, place, "pickedUpAt", after: ["createdAt"])
    }

    private mutating func checkTracking(_ object: JSONObject, _ place: [String]) {
        let hasLink = object["trackingURL"]?.stringValue != nil
        let hasNumber = object["trackingNumber"]?.stringValue != nil
        if hasLink, !hasNumber, object["carrier"]?.stringValue == nil {
            add(
                .note,
                "tracking-without-carrier",
                place,
                "There is a tracking link but neither carrier nor tracking number; Wallet shows \"Track Shipment\".",
                fix: "Add carrier and trackingNumber if they are known."
            )
        }
        if hasNumber, !hasLink {
            add(
                .note,
                "tracking-without-link",
                place,
                "There is a tracking number but no link; the customer has to look it up.",
                fix: "Add trackingURL, best straight to the carrier's page of this parcel."
            )
        }
    }

    private mutating func checkWindow(_ object: JSONObject, _ place: [String], _ window: String, start: String) {
        guard object[window]?.stringValue != nil, object[start].map(\.isNull) ?? true else { return }
        add(
            .warning,
            "window-without-start",
            place + [window],
            "The window has no start: \(start) is missing.",
            fix: "Add \(start), or leave the duration out."
        )
    }
}
