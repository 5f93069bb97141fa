// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension OrderDocument {
    /// Where the order stands. Apple: `Order.status`.
    public var status: OrderStatus {
        json["status"]?.stringValue.flatMap(OrderStatus.init(exactly:)) ?? .open
    }

    /// When the order last changed, in seconds since 1970, as the document says; a document without `updatedAt` has not
    /// changed since its creation. Apple: `Order.updatedAt`.
    public var updatedAt: Int64 {
        json["updatedAt"]?.stringValue.flatMap { try? OrderDate(parsing: $0) }?.seconds ?? createdAt
    }

    /// The number that the customer sees. Apple: `Order.orderNumber`.
    public var orderNumber: String? { json["orderNumber"]?.stringValue }

    /// A parcel or a pickup, as far as lists and counts need it.
    public struct Fulfillment: Sendable, Hashable {
        /// Its name within the order.
        public let identifier: String
        /// Parcel or pickup.
        public let type: FulfillmentType
        /// Where it stands.
        public let status: FulfillmentStatus
    }

    /// The parcels and pickups, in the order of the document. Apple: `Order.fulfillments`.
    public var fulfillments: [Fulfillment] {
        (json["fulfillments"]?.arrayValue ?? []).compactMap { element in
            guard let object = element.objectValue, let identifier = object["fulfillmentIdentifier"]?.stringValue,
                let status = object["status"]?.stringValue.flatMap(FulfillmentStatus.init(exactly:))
            else { return nil }
            return Fulfillment(identifier: identifier, type: FulfillmentShape.type(of: object), status: status)
        }
    }

    /// A return, as far as lists and counts need it.
    public struct Return: Sendable, Hashable {
        /// Its name within the order.
        public let identifier: String
        /// Where it stands.
        public let status: ReturnStatus
    }

    /// The returns, in the order of the document. Apple: `Order.returns`.
    public var returns: [Return] {
        (json["returns"]?.arrayValue ?? []).compactMap { element in
            guard let identifier = element["returnIdentifier"]?.stringValue,
                let status = element["status"]?.stringValue.flatMap(ReturnStatus.init(exactly:))
            else { return nil }
            return Return(identifier: identifier, status: status)
        }
    }

    /// The document with what the service adds for a reader: `updatedAt`, and `webServiceURL` when there is one. The token
    /// is never in it.
    public func shown(updatedAt: Int64, webServiceURL: String?) -> JSONValue {
        guard case .object(var object) = json else { return json }
        object["updatedAt"] = .string(OrderDate(seconds: updatedAt).text)
        object["webServiceURL"] = webServiceURL.map { .string($0) }
        object["authenticationToken"] = nil
        return .object(object)
    }
}
