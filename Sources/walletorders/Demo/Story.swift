// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel

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

extension Story {
    /// The story beside texts that all orders of its type share, which a data directory in use may hold: Apple wants the same
    /// keys in every language, so each gets those of all, with the key as the text: what Wallet shows for a missing one.
    func beside(_ shared: [(locale: String, table: JSONObject)]) throws -> Story {
        if shared.isEmpty { return self }
        let suffix = ".lproj/order.strings"
        var own: [(locale: String, table: StringsTable)] = []
        for (path, contents) in self.files where path.hasSuffix(suffix) {
            own.append((String(path.dropLast(suffix.count)), try StringsTable.parse(contents)))
        }
        let keys = own.flatMap(\.table.keys) + shared.flatMap { $0.table.keys }
        var languages = own
        for (locale, _) in shared where !own.contains(where: { $0.locale.isExactly(locale) }) {
            languages.append((locale, StringsTable([])))
        }
        let texts = languages.map { locale, table in
            let given = shared.first { $0.locale.isExactly(locale) }?.table
            let missing = keys.filter { table[$0] == nil && given?[$0] == nil }
            let entries = table.entries + missing.map { StringsTable.Entry(key: $0, text: $0) }
            return (path: locale + suffix, contents: StringsTable(entries).write())
        }
        return Story(
            title: self.title,
            order: self.order,
            files: self.files.filter { !$0.path.hasSuffix(suffix) } + texts.filter { !$0.contents.isEmpty },
            change: self.change,
            completion: self.completion
        )
    }
}
