// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Marks of the keys that tokens are derived from. A handful of rows, read when a process starts.
enum TokenKeyStatements {
    /// A table of a few rows.
    static let listTokenKeys = Statement(
        "list_token_keys",
        "select kid::bigint, fingerprint from token_keys order by kid"
    )

    /// One probe: the first order that comes.
    static let hasOrders = Statement("has_orders", "select exists (select from orders)")

    /// Index: token_keys_pkey. The first to come with a number keeps it.
    static let addTokenKey = Statement(
        "add_token_key",
        """
        insert into token_keys (kid, fingerprint) values ($1::bigint::integer, $2::bytea) on conflict do nothing
        """
    )
}
