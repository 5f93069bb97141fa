// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Tells which of the two fulfillment objects is meant when `fulfillmentType` does not say so.
enum FulfillmentShape {
    /// The stated type; else the one that more of the members speak for; else shipping.
    static func type(of object: JSONObject) -> FulfillmentType {
        if let name = object["fulfillmentType"]?.stringValue, let type = FulfillmentType(exactly: name) { return type }
        let votes = votes(of: object)
        return votes.pickup > votes.shipping ? .pickup : .shipping
    }

    /// The other type than the stated one, when two members or more speak for it, and more than for the stated one: then it
    /// is the type that was mistaken.
    static func meant(by object: JSONObject) -> FulfillmentType? {
        guard let name = object["fulfillmentType"]?.stringValue, let stated = FulfillmentType(exactly: name) else {
            return nil
        }
        let votes = votes(of: object)
        return switch stated {
        case .shipping: votes.pickup >= 2 && votes.pickup > votes.shipping ? .pickup : nil
        case .pickup: votes.shipping >= 2 && votes.shipping > votes.pickup ? .shipping : nil
        }
    }

    /// How many members speak for each type: those that the other one does not have.
    private static func votes(of object: JSONObject) -> (shipping: Int, pickup: Int) {
        var shipping = 0
        var pickup = 0
        for (name, value) in object {
            let inShipping = ObjectDescription.shippingFulfillment.position(of: name) != nil
            let inPickup = ObjectDescription.pickupFulfillment.position(of: name) != nil
            if name.isExactly("status"), let status = value.stringValue {
                if status.isExactly(oneOf: ["pickedUp", "readyForPickup"]) { pickup += 1 }
                if !status.isExactly(oneOf: FulfillmentStatus.pickupNames),
                    status.isExactly(oneOf: FulfillmentStatus.shippingNames)
                {
                    shipping += 1
                }
            } else if inShipping != inPickup {
                if inShipping { shipping += 1 } else { pickup += 1 }
            } else if !inShipping {
                // Misspelt members speak, too.
                if name.beginsExactly(with: "pickup") { pickup += 1 }
            }
        }
        return (shipping, pickup)
    }
}
