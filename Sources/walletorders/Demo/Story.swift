// SPDX-License-Identifier: Apache-2.0
import ExactJSON

/// One order's way from checkout to completion: what is sent, and what the phone must see of it.
struct Story: Sendable {
    /// An event, and what the customer's phone must show afterwards.
    struct Turn: Sendable {
        /// What happens, in words.
        let words: String
        /// The fulfillment's members that change, by fulfillment.
        let changes: [(fulfillment: String, members: JSONObject)]
    }

    let title: String
    /// The order document.
    let order: String
    /// The files beside it, by their path in the package.
    let files: [(path: String, contents: [UInt8])]
    /// The first change: shipped, or ready.
    let change: Turn
    /// The last one, which completes the order.
    let completion: Turn

    static let shipping = Story(
        title: "A shipping order with two parcels",
        order: DemoOrders.shipping,
        files: [("logo.png", DemoImages.png), ("product.jpg", DemoImages.jpeg)],
        change: Turn(
            words: "fulfilment posts: parcel-1 is shipped, with a tracking number",
            changes: [
                (
                    "parcel-1",
                    [
                        "status": "shipped", "trackingNumber": "EX123456789DE",
                        "trackingURL": "https://www.example.com/track/EX123456789DE",
                    ]
                )
            ]
        ),
        completion: Turn(
            words: "the carrier posts: both parcels are delivered",
            changes: [("parcel-1", ["status": "delivered"]), ("parcel-2", ["status": "delivered"])]
        )
    )

    static let bakery = Story(
        title: "A pickup order in two languages",
        order: DemoOrders.bakery,
        files: [
            ("logo.png", DemoImages.png), ("pastry.png", DemoImages.png), ("cheesecake.png", DemoImages.jpeg),
            ("spongecake.png", DemoImages.jpeg), ("de.lproj/order.strings", Array(DemoOrders.bakeryGerman.utf8)),
            ("en.lproj/order.strings", Array(DemoOrders.bakeryEnglish.utf8)),
        ],
        change: Turn(
            words: "the store posts: the order is ready for pickup",
            changes: [("pickup.1", ["status": "readyForPickup"])]
        ),
        completion: Turn(
            words: "the store posts: the order was picked up",
            changes: [("pickup.1", ["status": "pickedUp"])]
        )
    )
}
