// SPDX-License-Identifier: Apache-2.0

package import PostgreSQL

extension OrderStore {
    /// The schema's steps, carried by the binary. Their source is the folder `Migrations/` at the top of the package;
    /// a step that was released is never edited, a new one goes behind it.
    package static let migrations: [Migration] = [
        Migration(
            version: 1,
            name: "orders_devices_and_tickets",
            sql: String(decoding: PackageResources._01_orders_devices_and_tickets_sql, as: UTF8.self)
        ),
        Migration(
            version: 2,
            name: "refreshes_skipped",
            sql: String(decoding: PackageResources._02_refreshes_skipped_sql, as: UTF8.self)
        ),
        Migration(
            version: 3,
            name: "idempotency_by_order",
            sql: String(decoding: PackageResources._03_idempotency_by_order_sql, as: UTF8.self)
        ),
        Migration(
            version: 4,
            name: "devices_token_gone_at",
            sql: String(decoding: PackageResources._04_devices_token_gone_at_sql, as: UTF8.self)
        ),
        Migration(
            version: 5,
            name: "token_keys",
            sql: String(decoding: PackageResources._05_token_keys_sql, as: UTF8.self)
        ),
    ]
}
