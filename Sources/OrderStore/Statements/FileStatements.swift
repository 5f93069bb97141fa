// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Order types, their files and strings, contents by digest, and the roll-out of a type's changes.
enum FileStatements {
    /// Index: order_types_pkey.
    static let ensureOrderType = Statement(
        "ensure_order_type",
        "insert into order_types (order_type) values ($1::text) on conflict do nothing"
    )

    /// Index: order_types_pkey.
    static let listOrderTypes = Statement(
        "list_order_types",
        "select order_type, parts_version from order_types order by order_type"
    )

    /// Read before the type's files: a change between the two leaves an older version on newer files, and the next
    /// revision pins them again. Index: order_types_pkey.
    static let readPartsVersion = Statement(
        "read_parts_version",
        "select parts_version from order_types where order_type = $1::text"
    )

    /// Says that the type's files are other ones now. Index: order_types_pkey.
    static let raisePartsVersion = Statement(
        "raise_parts_version",
        """
        insert into order_types as t (order_type, parts_version) values ($1::text, 2)
        on conflict (order_type) do update set parts_version = t.parts_version + 1 returning parts_version
        """
    )

    /// Stores contents once. The touched time keeps them from the sweep of unused contents; the row stays locked until
    /// commit, so that the sweep cannot take it between this statement and the one that pins it. Index: assets_pkey.
    static let putAssets = Statement(
        "put_assets",
        """
        insert into assets as a (order_type, digest, bytes)
        select $1::text, i.digest, i.bytes from unnest($2::bytea[], $3::bytea[]) i(digest, bytes) order by i.digest
        on conflict (order_type, digest) do update set used_at = clock_timestamp()
        where a.used_at < clock_timestamp() - interval '1 hour'
        """
    )

    /// Keeps contents from an erasure until the commit that pins them; many may do so at once. Comes back with those that
    /// are there, and whether ``putAssets`` would touch them. Index: assets_pkey.
    static let holdAssets = Statement(
        "hold_assets",
        """
        select digest, used_at < clock_timestamp() - interval '1 hour' from assets
        where order_type = $1::text and digest = any($2::bytea[])
        order by digest for key share
        """
    )

    /// Whether an erasure holds any of these contents now. Index: assets_pkey.
    static let areAssetsTaken = Statement(
        "are_assets_taken",
        """
        select (select count(*) from assets where order_type = $1::text and digest = any($2::bytea[]))
            > (select count(*) from (select 1 from assets where order_type = $1::text and digest = any($2::bytea[])
                for key share skip locked) free)
        """
    )

    /// Index: assets_pkey.
    static let readAssets = Statement(
        "read_assets",
        "select digest, bytes from assets where order_type = $1::text and digest = any($2::bytea[])"
    )

    /// Files of an order as pinned, their sizes, which are read without the contents, and the first bytes, which tell the
    /// format: contents are kept in pieces, of which one is read. Indexes: order_parts_pkey, assets_pkey.
    static let readParts = Statement(
        "read_parts",
        """
        select p.order_identifier, p.name, p.digest, p.origin, coalesce(octet_length(a.bytes), 0)::bigint,
            coalesce(substring(a.bytes from 1 for 8), '')
        from order_parts p left join assets a on a.order_type = $1::text and a.digest = p.digest
        where p.order_type = $1::text and p.order_identifier = any($2::text[]) order by p.order_identifier, p.name
        """
    )

    /// Files of the type that a document may refer to, their sizes and first bytes. Indexes: type_parts_by_stem,
    /// assets_pkey.
    static let readTypePartsByStem = Statement(
        "read_type_parts_by_stem",
        """
        select p.name, p.digest, coalesce(octet_length(a.bytes), 0)::bigint,
            coalesce(substring(a.bytes from 1 for 8), '')
        from type_parts p left join assets a on a.order_type = $1::text and a.digest = p.digest
        where p.order_type = $1::text and p.stem = any($2::text[]) order by p.name
        """
    )

    /// Index: type_strings_pkey.
    static let readTypeStrings = Statement(
        "read_type_strings",
        "select locale, strings from type_strings where order_type = $1::text order by locale"
    )

    /// Index: order_strings_pkey.
    static let readOrderStrings = Statement(
        "read_order_strings",
        """
        select order_identifier, locale, strings from order_strings
        where order_type = $1::text and order_identifier = any($2::text[]) order by order_identifier, locale
        """
    )

    /// Index: order_parts_pkey.
    static let dropParts = Statement(
        "drop_parts",
        """
        delete from order_parts
        where order_type = $1::text and order_identifier = $2::text and name <> all($3::text[])
        """
    )

    /// Index: order_parts_pkey.
    static let putParts = Statement(
        "put_parts",
        """
        insert into order_parts as p (order_type, order_identifier, name, digest, origin)
        select $1::text, $2::text, i.* from unnest($3::text[], $4::bytea[], $5::text[]) i(name, digest, origin)
        on conflict (order_type, order_identifier, name) do update set digest = excluded.digest,
            origin = excluded.origin
        where (p.digest, p.origin) is distinct from (excluded.digest, excluded.origin)
        """
    )

    /// Which of the type's files an order holds, when a newer set of them gave it no revision. Index: orders_pkey.
    static let savePartsVersion = Statement(
        "save_parts_version",
        "update orders set parts_version = $3::bigint where order_type = $1::text and order_identifier = $2::text"
    )

    /// Index: order_strings_pkey.
    static let putOrderStrings = Statement(
        "put_order_strings",
        """
        insert into order_strings (order_type, order_identifier, locale, strings)
        values ($1::text, $2::text, $3::text, $4::text)
        on conflict (order_type, order_identifier, locale) do update set strings = excluded.strings
        """
    )

    /// Index: order_strings_pkey.
    static let removeOrderStrings = Statement(
        "remove_order_strings",
        """
        delete from order_strings where order_type = $1::text and order_identifier = $2::text and locale = $3::text
        """
    )

    /// Index: type_parts_pkey. Returns a row only when something changed.
    static let putTypePart = Statement(
        "put_type_part",
        """
        insert into type_parts as t (order_type, name, stem, digest)
        values ($1::text, $2::text, $3::text, $4::bytea)
        on conflict (order_type, name) do update set digest = excluded.digest, changed_at = clock_timestamp()
        where t.digest is distinct from excluded.digest
        """
    )

    /// Keeps the contents of a file that is taken away or replaced from the sweep for a day: a change that is running may
    /// be about to pin them. Indexes: type_parts_pkey, assets_pkey.
    static let touchTypePart = Statement(
        "touch_type_part",
        """
        update assets a set used_at = clock_timestamp() from type_parts t
        where t.order_type = $1::text and t.name = $2::text and a.order_type = $1::text and a.digest = t.digest
        """
    )

    /// Lets one change of a type's files at a time look at what is there: also at a place where nothing is, which has no row
    /// to lock. Index: order_types_pkey.
    static let lockOrderType = Statement(
        "lock_order_type",
        "select parts_version from order_types where order_type = $1::text for update"
    )

    /// Index: type_parts_pkey.
    static let readTypePartDigest = Statement(
        "read_type_part_digest",
        "select digest from type_parts where order_type = $1::text and name = $2::text"
    )

    /// Index: type_parts_pkey.
    static let removeTypePart = Statement(
        "remove_type_part",
        "delete from type_parts where order_type = $1::text and name = $2::text"
    )

    /// Index: type_parts_pkey.
    static let listTypeParts = Statement(
        "list_type_parts",
        "select name, digest, changed_at from type_parts where order_type = $1::text order by name"
    )

    /// Indexes: type_parts_pkey, assets_pkey.
    static let readTypePart = Statement(
        "read_type_part",
        """
        select p.name, p.digest, p.changed_at, a.bytes from type_parts p
        join assets a on a.order_type = $1::text and a.digest = p.digest
        where p.order_type = $1::text and p.name = $2::text
        """
    )

    /// A file sent for one order; pinned ones of the type are not its own. Indexes: order_parts_pkey, assets_pkey.
    static let readOwnPart = Statement(
        "read_own_part",
        """
        select p.digest, a.bytes from order_parts p
        join assets a on a.order_type = $1::text and a.digest = p.digest
        where p.order_type = $1::text and p.order_identifier = $2::text and p.name = $3::text and p.origin = 'order'
        """
    )

    /// Index: type_strings_pkey.
    static let putTypeStrings = Statement(
        "put_type_strings",
        """
        insert into type_strings as t (order_type, locale, strings) values ($1::text, $2::text, $3::text)
        on conflict (order_type, locale) do update set strings = excluded.strings, changed_at = clock_timestamp()
        where t.strings is distinct from excluded.strings
        """
    )

    /// Index: type_strings_pkey.
    static let removeTypeStrings = Statement(
        "remove_type_strings",
        "delete from type_strings where order_type = $1::text and locale = $2::text"
    )

    /// Index: refreshes_pkey. A refresh that is running starts over with the newer target.
    static let startRefresh = Statement(
        "start_refresh",
        """
        insert into refreshes as r (order_type, target)
        select t.order_type, t.parts_version from order_types t where t.order_type = $1::text
        on conflict (order_type) do update set target = excluded.target, cursor = '', done = 0, skipped = 0, claim = null,
            started_at = clock_timestamp()
        """
    )

    /// Index: refreshes_pkey.
    static let listRefreshes = Statement("list_refreshes", "select order_type from refreshes order by order_type")

    /// One worker a type, under a lease of a minute. Index: refreshes_pkey.
    static let claimRefresh = Statement(
        "claim_refresh",
        """
        update refreshes set claim = $2::uuid, claimed_at = clock_timestamp()
        where order_type = $1::text
            and (claim is null or claimed_at < clock_timestamp() - interval '1 minute')
        returning target, cursor
        """
    )

    /// Open orders after the cursor that hold an older set of files. At most 5,000 heads are looked at.
    /// Index: orders_pkey.
    static let findOutdated = Statement(
        "find_outdated",
        """
        with heads as materialized (
            select order_identifier, parts_version, status, erased_at from orders
            where order_type = $1::text and order_identifier > $2::text order by order_identifier limit 5000),
        chosen as materialized (
            select order_identifier from heads
            where parts_version < $3::bigint and status = 'open' and erased_at is null
            order by order_identifier limit $4::bigint)
        select order_identifier, true from chosen
        union all
        select max(order_identifier), false from heads where (select count(*) from chosen) < $4::bigint
        """
    )

    /// Index: refreshes_pkey. Only the holder of the claim moves the cursor.
    static let moveRefresh = Statement(
        "move_refresh",
        """
        update refreshes set cursor = $3::text, done = done + $4::bigint, skipped = skipped + $5::bigint, claim = null
        where order_type = $1::text and claim = $2::uuid
        """
    )

    /// Ends a roll-out whose last pass left nothing out, or that has gone on for a day. Index: refreshes_pkey.
    static let endRefresh = Statement(
        "end_refresh",
        """
        delete from refreshes
        where order_type = $1::text and claim = $2::uuid
            and (skipped = 0 or started_at < clock_timestamp() - interval '1 day')
        returning skipped
        """
    )

    /// The next pass of a roll-out that left orders out. The claim is kept: its lease, begun later the longer the roll-out
    /// has gone on, is the wait until then, from a minute to an hour. Index: refreshes_pkey.
    static let repeatRefresh = Statement(
        "repeat_refresh",
        """
        update refreshes set cursor = '', skipped = 0,
            claimed_at = clock_timestamp() + least((clock_timestamp() - started_at) / 2, interval '59 minutes')
        where order_type = $1::text and claim = $2::uuid
        """
    )
}
