// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Tells which of the two fulfillment objects is meant when `fulfillmentType` does not say so.
enum FulfillmentShape {
    /// The stated type; else the one that more of the members speak for; else shipping.
    static func type(of object: JSONObject) -> FulfillmentType {
        if let name = object["fulfillmentType"]?.stringValue, let type = FulfillmentType(exactly: name) { return type }
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
        return pickup > shipping ? .pickup : .shipping
    }
}
