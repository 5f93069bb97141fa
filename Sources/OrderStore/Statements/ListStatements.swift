// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Pages of orders, and the parts of an order's history.
///
/// A page looks at no more than 5,000 heads: a rare filter gives short pages with a cursor instead of a long scan.
enum ListStatements {
    /// By key, looking at $7 heads. The last column but one says whether the row passed the filter; the last row looked at
    /// always comes back, for the cursor. Index: orders_pkey; registrations_by_order for `registered`.
    static let pageByKey = Statement(
        "page_by_key",
        """
        with heads as materialized (
            select * from orders where order_type = $1::text and order_identifier > $2::text
            order by order_identifier limit $7::bigint),
        chosen as materialized (
            select h.order_identifier from heads h
            where h.erased_at is null and ($3::text is null or h.status = $3::text)
                and ($4::text is null or $4::text = any(h.fulfillment_statuses))
                and ($5::boolean is null or $5::boolean = exists (select from registrations r
                    where r.order_type = $1::text and r.order_identifier = h.order_identifier))
            order by h.order_identifier limit $6::bigint),
        edge as (
            select case when (select count(*) from chosen) >= $6::bigint
                then (select max(order_identifier) from chosen) else (select max(order_identifier) from heads) end as last)
        select h.order_identifier, h.revision, h.modified_at, h.made_at, h.digest, h.status,
            array_to_string(h.fulfillment_statuses, ','), h.order_number, h.created_at, h.token_kid::bigint,
            h.token_nonce, h.erased_at is not null,
            h.order_identifier in (select order_identifier from chosen),
            (select count(*) from heads) = $7::bigint or h.order_identifier < (select max(order_identifier) from heads)
        from heads h, edge
        where h.order_identifier in (select order_identifier from chosen) or h.order_identifier = edge.last
        order by h.order_identifier
        """
    )

    /// By number, which is nearly unique. Index: orders_by_number.
    static let findByNumber = Statement(
        "find_by_number",
        """
        select order_identifier, revision, modified_at, made_at, digest, status,
            array_to_string(fulfillment_statuses, ','), order_number, created_at, token_kid::bigint, token_nonce,
            erased_at is not null
        from orders o where order_type = $1::text and order_number = $2::text and order_identifier > $3::text
            and order_number is not null and erased_at is null
            and ($4::text is null or status = $4::text)
            and ($5::text is null or $5::text = any(fulfillment_statuses))
            and ($6::boolean is null or $6::boolean = exists (select from registrations r
                where r.order_type = $1::text and r.order_identifier = o.order_identifier))
        order by order_identifier limit $7::bigint
        """
    )

    /// "Updated since", oldest first: the newest revision row of each order. Indexes: order_revisions_by_time, orders_pkey.
    static let pageByTime = Statement(
        "page_by_time",
        """
        with seen as materialized (
            select v.order_identifier, v.modified_at, v.revision from order_revisions v
            where v.order_type = $1::text and (v.modified_at, v.order_identifier) > ($2::timestamptz, $3::text)
            order by v.modified_at, v.order_identifier limit 5000),
        newest as materialized (
            select s.modified_at as seen_at, o.* from seen s
            join orders o on o.order_type = $1::text and o.order_identifier = s.order_identifier
                and o.revision = s.revision
            where o.erased_at is null and ($4::text is null or o.status = $4::text)
                and ($5::text is null or $5::text = any(o.fulfillment_statuses))
                and ($6::boolean is null or $6::boolean = exists (select from registrations r
                    where r.order_type = $1::text and r.order_identifier = o.order_identifier))
            order by s.modified_at, s.order_identifier limit $7::bigint)
        select order_identifier, revision, modified_at, made_at, digest, status,
            array_to_string(fulfillment_statuses, ','), order_number, created_at, token_kid::bigint, token_nonce, false,
            true, seen_at
        from newest
        union all
        (select s.order_identifier, 0, null, null, null, '', '', null, null, 0, null, false, false, s.modified_at
        from seen s
        where (select count(*) from newest) < $7::bigint and (select count(*) from seen) = 5000
        order by s.modified_at desc, s.order_identifier desc limit 1)
        """
    )

    /// Index: order_revisions_pkey, backwards.
    static let readRevisions = Statement(
        "read_revisions",
        """
        select revision, modified_at, recorded_at, cause, actor, changes from order_revisions
        where order_type = $1::text and order_identifier = $2::text order by revision desc limit $3::bigint
        """
    )
}
