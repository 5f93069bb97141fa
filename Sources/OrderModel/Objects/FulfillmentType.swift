// SPDX-License-Identifier: Apache-2.0

/// How the goods reach the customer. Apple tells the two objects apart by `fulfillmentType`.
public enum FulfillmentType: String, Sendable, Hashable, CaseIterable {
    /// A parcel or a delivery: `ShippingFulfillment`.
    case shipping
    /// The customer comes: `PickupFulfillment`.
    case pickup

    static let names = allCases.map(\.rawValue)

    /// The table of its object.
    public var object: ObjectDescription {
        switch self {
        case .shipping: .shippingFulfillment
        case .pickup: .pickupFulfillment
        }
    }
}

/// Where a parcel or a pickup stands. Apple: WalletOrders, `ShippingFulfillment.status` and `PickupFulfillment.status`.
public enum FulfillmentStatus: String, Sendable, Hashable, CaseIterable {
    /// Ordered, nothing done yet.
    case open
    /// Being prepared.
    case processing
    /// Handed to the carrier; use it when carrier events are not known.
    case shipped
    /// The carrier moves it.
    case onTheWay
    /// It arrives today.
    case outForDelivery
    /// It waits at the counter.
    case readyForPickup
    /// Something went wrong.
    case issue
    /// The customer has the parcel.
    case delivered
    /// The customer has the goods.
    case pickedUp
    /// It will not come.
    case cancelled

    static let shippingNames = [
        "open", "processing", "onTheWay", "outForDelivery", "delivered", "shipped", "issue", "cancelled",
    ]
    static let pickupNames = ["open", "processing", "readyForPickup", "pickedUp", "issue", "cancelled"]

    /// Whether nothing more is expected after it.
    public var isFinal: Bool { self == .delivered || self == .pickedUp || self == .cancelled }
}
