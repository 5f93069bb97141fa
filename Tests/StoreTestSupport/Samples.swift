// SPDX-License-Identifier: Apache-2.0

package import ExactJSON
package import OrderModel
package import OrderStore
import Testing

/// Orders, events and devices that tests begin with.
package enum Samples {
    package static let shop = "order.com.example.shop"
    package static let bakery = "order.com.example.bakery"

    package static func key(_ order: String, type: String = shop) throws -> OrderKey {
        OrderKey(try OrderTypeIdentifier(type), try OrderIdentifier(order))
    }

    package static func json(
        _ order: String,
        type: String = shop,
        created: String = "2026-01-02T03:04:05Z",
        logo: String? = nil
    ) -> JSONValue {
        var merchant: JSONObject = [
            "merchantIdentifier": "merchant.com.example.shop", "displayName": "Example Shop",
            "url": "https://www.example.com/",
        ]
        if let logo { merchant["logo"] = .string(logo) }
        return .object([
            "schemaVersion": 1, "orderTypeIdentifier": .string(type), "orderIdentifier": .string(order),
            "orderType": "ecommerce", "orderNumber": .string("N-\(order)"), "createdAt": .string(created),
            "status": "open", "merchant": .object(merchant), "orderManagementURL": "https://www.example.com/orders",
            "payment": [
                "status": "paid",
                "total": ["amount": .number(JSONNumber("28.80") ?? JSONNumber(0)), "currency": "USD"],
            ],
            "fulfillments": [
                ["fulfillmentIdentifier": "parcel-1", "fulfillmentType": "shipping", "status": "open"]
            ],
        ])
    }

    package static func document(
        _ order: String,
        type: String = shop,
        created: String = "2026-01-02T03:04:05Z",
        logo: String? = nil
    ) throws -> OrderDocument {
        let (document, findings) = OrderDocument.validate(
            json(order, type: type, created: created, logo: logo),
            ValidationOptions(isServiceFilled: true)
        )
        return try #require(document, "\(findings)")
    }

    package static func event(
        _ identifier: String,
        status: String? = "shipped",
        tracking: String? = nil,
        at moment: String? = nil,
        parcel: String = "parcel-1",
        type: String? = nil
    ) throws -> OrderEvent {
        var parcelChange: JSONObject = ["fulfillmentIdentifier": .string(parcel)]
        if let type { parcelChange["fulfillmentType"] = .string(type) }
        if let status { parcelChange["status"] = .string(status) }
        if let tracking { parcelChange["trackingNumber"] = .string(tracking) }
        var event: JSONObject = ["eventIdentifier": .string(identifier), "fulfillment": .object(parcelChange)]
        if let moment { event["occurredAt"] = .string(moment) }
        let (parsed, findings) = OrderEvent.parse(.object(event))
        return try #require(parsed, "\(findings)")
    }

    package static func device(_ name: String) throws -> DeviceIdentifier { try DeviceIdentifier(name) }
    package static func token(_ number: Int) throws -> PushToken { try PushToken(String(number, radix: 16)) }

    package static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A PNG of 300 by 300 pixels to whoever reads its headers; checksums and pixels, at which nobody looks here, are none.
    package static func image(_ number: UInt8) -> [UInt8] {
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(data.count)] + Array(name.utf8) + data + [0, 0, 0, 0]
        }
        let side: [UInt8] = [0, 0, 1, 0x2C]
        return png + chunk("IHDR", side + side + [8, 2, 0, 0, 0]) + chunk("IDAT", [number]) + chunk("IEND", [])
    }
}

extension StoreFixture {
    /// Stores a plain order.
    @discardableResult
    package func create(_ order: String, type: String = Samples.shop, logo: String? = nil) async throws -> CreatedOrder
    {
        let outcome = try await store.create(
            NewOrder(document: try Samples.document(order, type: type, logo: logo))
        )
        guard case .created(let created) = outcome else { throw Unexpected() }
        return created
    }
}

/// An outcome that a test has no use for.
package struct Unexpected: Error {
    package init() {}
}

/// Runs a closure and gives the store's error code.
package func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}
