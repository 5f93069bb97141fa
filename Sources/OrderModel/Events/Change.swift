// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// A change to one thing within an order: members with their new values, null for those to remove. Each member is one
/// value: an address or a list of items is replaced as a whole.
public struct Change: Sendable, Hashable {
    /// The thing that changes.
    public enum Subject: Sendable, Hashable {
        /// The order itself, without payment, fulfillments and returns.
        case order
        /// The payment.
        case payment
        /// A parcel or pickup, by its identifier.
        case fulfillment(String)
        /// A return, by its identifier.
        case `return`(String)
    }

    /// The thing that changes.
    public let subject: Subject
    /// The changed members without identity; nil takes the thing out of the document.
    public let members: JSONObject?
    /// Whether an edit adds a thing that was not there when it was made. It can't help naming a status then, and takes back
    /// none that was reported of the thing before: as to the status it counts like an event.
    let isAddition: Bool

    /// A change of members, or (nil) a removal.
    public init(_ subject: Subject, _ members: JSONObject?) { self.init(subject, members, isAddition: false) }

    init(_ subject: Subject, _ members: JSONObject?, isAddition: Bool) {
        self.subject = subject
        self.members = members
        self.isAddition = isAddition
    }

    /// The same change of a thing that is there.
    var ofWhatIsThere: Change { Change(subject, members) }
}

extension Change.Subject {
    /// Identifiers are compared by their bytes, as the store and devices do.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.order, .order), (.payment, .payment): true
        case (.fulfillment(let one), .fulfillment(let other)), (.return(let one), .return(let other)):
            ExactKey(one) == ExactKey(other)
        default: false
        }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(eventMember)
        if let identifier { hasher.combine(ExactKey(identifier)) }
    }

    /// The member of the root that holds the thing: "fulfillments". The order itself has none.
    var listName: String? {
        switch self {
        case .fulfillment: "fulfillments"
        case .return: "returns"
        case .order, .payment: nil
        }
    }

    /// The member that holds the identifier.
    var identifierName: String? {
        switch self {
        case .fulfillment: "fulfillmentIdentifier"
        case .return: "returnIdentifier"
        case .order, .payment: nil
        }
    }

    var identifier: String? {
        switch self {
        case .fulfillment(let identifier), .return(let identifier): identifier
        case .order, .payment: nil
        }
    }

    /// The member that an event has to bring along to begin a thing that is not there yet. Without it, it is an update
    /// that came before its beginning.
    var foundingMember: String? {
        switch self {
        case .fulfillment: "fulfillmentType"
        case .return: "status"
        case .payment: "total"
        case .order: nil
        }
    }

    /// Statuses from least to most advanced. Events of one moment count in this order.
    var progress: [String] {
        switch self {
        case .order: ["open", "completed", "cancelled"]
        case .payment: ["pending", "authorized", "paid", "declined", "voided", "refunded"]
        case .fulfillment:
            [
                "open", "processing", "shipped", "onTheWay", "outForDelivery", "readyForPickup", "issue", "delivered",
                "pickedUp", "cancelled",
            ]
        case .return: ["open", "onTheWay", "processing", "issue", "completed", "cancelled"]
        }
    }

    /// Whether a status ends the thing's way, so that only some news still moves it.
    func isFinal(_ status: String) -> Bool {
        switch self {
        case .order: status.isExactly("cancelled")
        case .payment: false
        case .fulfillment: status.isExactly(oneOf: ["delivered", "pickedUp", "cancelled"])
        case .return: status.isExactly(oneOf: ["completed", "cancelled"])
        }
    }

    /// Whether a status counts even after a final one.
    func alwaysMoves(_ status: String) -> Bool {
        status.isExactly(oneOf: ["issue", "cancelled"])
    }
}
