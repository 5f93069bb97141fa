// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension Order {
    /// How goods reach the customer. Apple tells the two objects apart by `fulfillmentType`, which is therefore no
    /// property of theirs.
    public enum Fulfillment: Sendable, Hashable {
        /// They are brought.
        case shipping(ShippingFulfillment)
        /// The customer collects them.
        case pickup(PickupFulfillment)

        /// Which of the two it is.
        public var type: FulfillmentType {
            switch self {
            case .shipping: .shipping
            case .pickup: .pickup
            }
        }

        /// The merchant's name for it, unique within the order.
        public var identifier: FulfillmentIdentifier {
            switch self {
            case .shipping(let fulfillment): fulfillment.fulfillmentIdentifier
            case .pickup(let fulfillment): fulfillment.fulfillmentIdentifier
            }
        }
    }
}

extension Order.Fulfillment: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .object(let object) = value else { throw FieldFault() }
        switch FulfillmentShape.type(of: object) {
        case .shipping: self = .shipping(try Order.ShippingFulfillment(field: value))
        case .pickup: self = .pickup(try Order.PickupFulfillment(field: value))
        }
    }

    var field: JSONValue {
        switch self {
        case .shipping(let fulfillment): fulfillment.field
        case .pickup(let fulfillment): fulfillment.field
        }
    }
}
