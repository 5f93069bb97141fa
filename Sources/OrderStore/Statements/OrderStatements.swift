// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Orders, documents, revisions and events.
///
/// Lock order everywhere: orders (by type, identifier), then devices (by type, identifier). A statement that must see
/// what a lock protects is a later statement than the one that took the lock, because under READ COMMITTED a
/// statement's snapshot is older than its own lock waits.
enum OrderStatements {
    /// Stores a new order: head, document, revision 1, parts, strings and the kept answer, or nothing at all.
    /// One statement is one transaction in one round trip; a taken key (`orders_pkey`, `idempotency_pkey`) undoes all.
    /// No row comes back when createdAt is more than 10 minutes ahead of the database's clock, or when an erasure took
    /// contents of the files that it pins, the order's own or its type's, before they were locked.
    static let createOrder = Statement(
        "create_order",
        """
        with head as (
            insert into orders (order_type, order_identifier, revision, modified_at, made_at, mark, digest, parts_digest,
                parts_version, status, fulfillment_statuses, order_number, created_at, token_kid, token_nonce)
            select $1::text, $2::text, 1, date_trunc('second', $3::timestamptz),
                date_trunc('second', clock_timestamp()), (extract(epoch from clock_timestamp()) * 1000000)::bigint,
                $4::bytea, $5::bytea, $6::bigint, $7::text, $8::text[], $9::text, $3::timestamptz, $10::bigint::integer,
                $11::bytea
            where $3::timestamptz <= clock_timestamp() + interval '10 minutes'
                and not exists (select from unnest($26::bytea[]) c(digest) where not exists (
                    select from assets a where a.order_type = $1::text and a.digest = c.digest))
            returning order_type, order_identifier, modified_at),
        kept as (
            insert into idempotency (order_type, route, key, fingerprint, order_identifier, status, result, expires_at)
            select h.order_type, $12::text, $13::text, $14::bytea, h.order_identifier, $15::bigint::integer, $16::text,
                clock_timestamp() + interval '72 hours'
            from head h where $13::text is not null),
        text as (
            insert into order_documents (order_type, order_identifier, document, base, folded_to, fold_state)
            select h.order_type, h.order_identifier, $17::text, $17::text, $18::text, $19::text from head h),
        part as (
            insert into order_parts (order_type, order_identifier, name, digest, origin)
            select h.order_type, h.order_identifier, p.name, p.digest, p.origin
            from head h, unnest($20::text[], $21::bytea[], $22::text[]) p(name, digest, origin)),
        words as (
            insert into order_strings (order_type, order_identifier, locale, strings)
            select h.order_type, h.order_identifier, s.locale, s.strings
            from head h, unnest($23::text[], $24::text[]) s(locale, strings))
        insert into order_revisions (order_type, order_identifier, revision, modified_at, cause, actor, changes)
        select h.order_type, h.order_identifier, 1, h.modified_at, 'create', $25::text, '[]' from head h
        returning modified_at
        """
    )

    /// What ``createOrder`` would refuse, without a lock. Index: orders_pkey.
    static let checkCreate = Statement(
        "check_create",
        """
        select $3::timestamptz <= clock_timestamp() + interval '10 minutes',
            exists (select from orders where order_type = $1::text and order_identifier = $2::text)
        """
    )

    /// Index: orders_pkey. One narrow row; it serves conditional requests, tokens and registrations.
    static let readHead = Statement(
        "read_head",
        """
        select order_identifier, revision, modified_at, made_at, digest, status,
            array_to_string(fulfillment_statuses, ','), order_number, created_at, token_kid::bigint, token_nonce,
            erased_at is not null
        from orders where order_type = $1::text and order_identifier = $2::text
        """
    )

    /// Index: orders_pkey.
    static let readErasure = Statement(
        "read_erasure",
        "select erased_at from orders where order_type = $1::text and order_identifier = $2::text"
    )

    /// Head, document and parts under one snapshot: two statements could pair revision 6's date with revision 5's
    /// content, which a 304 would then hide for good. Indexes: the three primary keys.
    static let readPackage = Statement(
        "read_package",
        """
        select o.order_identifier, o.revision, o.modified_at, o.made_at, o.digest, o.status,
            array_to_string(o.fulfillment_statuses, ','), o.order_number, o.created_at, o.token_kid::bigint,
            o.token_nonce, o.erased_at is not null, t.document,
            (select string_agg(p.name || E'\\t' || encode(p.digest, 'hex') || E'\\t' || p.origin, E'\\n' order by p.name)
             from order_parts p where p.order_type = $1::text and p.order_identifier = $2::text)
        from orders o join order_documents t using (order_type, order_identifier)
        where o.order_type = $1::text and o.order_identifier = $2::text and o.erased_at is null
        """
    )

    /// A1. Locks the heads of a chunk, sorted. What is read under these locks is read by the statements after it.
    /// Index: orders_pkey.
    static let lockOrders = Statement(
        "lock_orders",
        """
        select order_identifier, revision, modified_at, mark, digest, parts_digest, parts_version,
            erased_at is not null,
            greatest(date_trunc('second', clock_timestamp()), modified_at + interval '1 second'), clock_timestamp()
        from orders where order_type = $1::text and order_identifier = any($2::text[])
        order by order_identifier for no key update
        """
    )

    /// The same without locks, for `validateOnly`. Index: orders_pkey.
    static let peekOrders = Statement(
        "peek_orders",
        """
        select order_identifier, revision, modified_at, mark, digest, parts_digest, parts_version,
            erased_at is not null,
            greatest(date_trunc('second', clock_timestamp()), modified_at + interval '1 second'), clock_timestamp()
        from orders where order_type = $1::text and order_identifier = any($2::text[])
        order by order_identifier
        """
    )

    /// Index: order_documents_pkey.
    static let readDocuments = Statement(
        "read_documents",
        """
        select order_identifier, document, base, base_until, folded_to, fold_state, stamped_at
        from order_documents where order_type = $1::text and order_identifier = any($2::text[])
        """
    )

    /// The events of this request that an earlier request already brought. Index: order_events_pkey.
    static let readKnownEvents = Statement(
        "read_known_events",
        """
        select e.order_identifier, e.event_identifier, e.fingerprint, e.verdict, e.changes, e.revision, e.modified_at
        from unnest($2::text[], $3::text[]) k(order_identifier, event_identifier)
        join order_events e on e.order_type = $1::text and e.order_identifier = k.order_identifier
            and e.event_identifier = k.event_identifier
        """
    )

    /// The newest entries of one order's log with their answers, for its history. Index: order_events_pkey, one range.
    static let readAnswers = Statement(
        "read_answers",
        """
        select event_identifier, kind, occurred_at, received_at, verdict, changes, revision, actor
        from order_events where order_type = $1::text and order_identifier = $2::text
        order by occurred_at desc, received_at desc limit $3::bigint
        """
    )

    /// The entries of one order's log that are not in its base, in a batch with the base itself.
    /// Indexes: order_documents_pkey; order_events_pkey, one range.
    static let readFoldedLog = Statement(
        "read_folded_log",
        """
        select e.event_identifier, e.kind, e.occurred_at, e.body from order_documents d
        join order_events e on e.order_type = $1::text and e.order_identifier = $2::text
            and e.occurred_at >= coalesce(d.base_until, '-infinity')
        where d.order_type = $1::text and d.order_identifier = $2::text
        """
    )

    /// The entries of one order's log that are not in its base. Index: order_events_pkey, one range.
    static let readLiveLog = Statement(
        "read_live_log",
        """
        select event_identifier, kind, occurred_at, body from order_events
        where order_type = $1::text and order_identifier = $2::text
            and occurred_at >= coalesce($3::timestamptz, '-infinity')
        """
    )

    /// How many there are. Index: order_events_pkey, one range.
    static let countLiveLog = Statement(
        "count_live_log",
        """
        select count(*) from order_events
        where order_type = $1::text and order_identifier = $2::text
            and occurred_at >= coalesce($3::timestamptz, '-infinity')
        """
    )

    /// A2. Fans out and moves the heads of a chunk. The devices are locked in one sorted set before the mark is drawn:
    /// two changes that concern one device are serialised by its row, so marks become visible in their own order.
    /// `coalesce(due_at, …)`: a ticket in flight, in back-off or already due keeps its time; only a resting one becomes
    /// due, at most once a second a device. Indexes: registrations_by_order, devices_pkey, orders_pkey.
    static let reviseOrders = Statement(
        "revise_orders",
        """
        with input as materialized (
            select * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bytea[],
                $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::bytea[], $13::bigint[], $14::text[],
                $15::text[])
            i(order_identifier, document, folded_to, fold_state, stamped_at, digest, status, fulfillment_statuses,
                order_number, modified_at, parts_digest, parts_version, cause, changes)),
        target as materialized (
            select d.device_identifier, d.mark from devices d
            where d.order_type = $1::text and d.device_identifier in (
                select r.device_identifier from registrations r
                where r.order_type = $1::text and r.order_identifier = any($2::text[]))
            order by d.device_identifier for no key update of d),
        stamp as materialized (
            select greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, $16::bigint + 1,
                (select max(mark) from target) + 1) as mark),
        bump as (
            update devices d set mark = s.mark, dead = false,
                attempts = case when d.dead then 0 else d.attempts end,
                first_failed_at = case when d.dead then null else d.first_failed_at end,
                due_at = case when d.push_token is null then null
                    else coalesce(d.due_at, greatest(clock_timestamp(), d.pushed_at + interval '1 second')) end
            from target t, stamp s
            where d.order_type = $1::text and d.device_identifier = t.device_identifier),
        text as (
            update order_documents t set document = i.document, folded_to = i.folded_to, fold_state = i.fold_state,
                stamped_at = i.stamped_at
            from input i where t.order_type = $1::text and t.order_identifier = i.order_identifier),
        head as (
            update orders o set revision = o.revision + 1, mark = s.mark, digest = i.digest, status = i.status,
                fulfillment_statuses = string_to_array(i.fulfillment_statuses, ','), order_number = i.order_number,
                made_at = date_trunc('second', clock_timestamp()), modified_at = i.modified_at,
                parts_digest = i.parts_digest, parts_version = i.parts_version
            from input i, stamp s where o.order_type = $1::text and o.order_identifier = i.order_identifier
            returning o.order_type, o.order_identifier, o.revision, o.modified_at, i.cause, i.changes)
        insert into order_revisions (order_type, order_identifier, revision, modified_at, cause, actor, changes)
        select h.order_type, h.order_identifier, h.revision, h.modified_at, h.cause, $17::text, h.changes from head h
        returning order_identifier, revision, modified_at, (select count(*) from target)
        """
    )

    /// Where the fold stands after an entry that changed nothing. Index: order_documents_pkey.
    static let saveFold = Statement(
        "save_fold",
        """
        update order_documents set folded_to = $3::text, fold_state = $4::text, stamped_at = $5::timestamptz
        where order_type = $1::text and order_identifier = $2::text
        """
    )

    /// Entries of the log with their answers. Index: order_events_pkey.
    static let addEvents = Statement(
        "add_events",
        """
        insert into order_events (order_type, order_identifier, event_identifier, kind, occurred_at, fingerprint, body,
            verdict, changes, revision, modified_at, actor)
        select $1::text, i.* , $12::text
        from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bytea[], $7::text[], $8::text[],
            $9::text[], $10::bigint[], $11::timestamptz[])
        i(order_identifier, event_identifier, kind, occurred_at, fingerprint, body, verdict, changes, revision,
            modified_at)
        """
    )

    /// Moves the start of the log: entries before `base_until` are part of the base from now on.
    /// Index: order_documents_pkey.
    static let moveBase = Statement(
        "move_base",
        """
        update order_documents set base = $3::text, base_until = $4::timestamptz, folded_to = $5::text,
            fold_state = $6::text
        where order_type = $1::text and order_identifier = $2::text
        """
    )

    /// Rows behind the base, once they need not answer duplicates any more. Index: order_events_pkey, one range.
    static let dropOldAnswers = Statement(
        "drop_old_answers",
        """
        delete from order_events
        where order_type = $1::text and order_identifier = $2::text and occurred_at < $3::timestamptz
            and received_at < clock_timestamp() - interval '72 hours'
        """
    )

    /// Orders that the sweep has work at, among the next ones after a cursor: the log has grown past its bound or holds
    /// entries past their age, or rows behind the base are older than duplicates are. The last order of the stretch always
    /// comes back, for the cursor, with whether the stretch is a full one. Indexes: order_documents_pkey, order_events_pkey, one range an order.
    static let findLongLogs = Statement(
        "find_long_logs",
        """
        with stretch as materialized (
            select order_identifier, coalesce(base_until, '-infinity') as base_until from order_documents
            where order_type = $1::text and order_identifier > $2::text
            order by order_identifier limit $4::bigint),
        judged as (
            select s.order_identifier, l.is_long from stretch s cross join lateral (
                select count(*) filter (where e.occurred_at >= s.base_until) > $3::bigint
                    or coalesce(bool_or(case when e.occurred_at >= s.base_until
                        then e.occurred_at < now() - interval '90 days'
                        else e.received_at < now() - interval '72 hours' end), false) as is_long
                from order_events e
                where e.order_type = $1::text and e.order_identifier = s.order_identifier) l)
        select order_identifier, is_long, (select count(*) from stretch) = $4::bigint from judged
        where is_long or order_identifier = (select max(order_identifier) from stretch)
        order by order_identifier
        """
    )

    /// Erase, first statement: the head. Index: orders_pkey.
    static let lockForErase = Statement(
        "lock_for_erase",
        """
        select erased_at is not null, digest from orders
        where order_type = $1::text and order_identifier = $2::text for update
        """
    )

    /// Erase, second: contents of files of the order's own, sorted, before the devices as with every change. Whoever pins
    /// the same contents locks them too, so that ``dropLooseAssets``, a later statement, sees it.
    /// Indexes: order_parts_pkey, assets_pkey.
    static let lockAssetsOfOrder = Statement(
        "lock_assets_of_order",
        """
        select a.digest from assets a
        where a.order_type = $1::text and a.digest in (
            select p.digest from order_parts p
            where p.order_type = $1::text and p.order_identifier = $2::text and p.origin <> 'type')
        order by a.digest for update of a
        """
    )

    /// Erase, third: the devices, sorted; at most $3 of them, all when it is null.
    /// Indexes: registrations_by_order, devices_pkey.
    static let lockDevicesOfOrder = Statement(
        "lock_devices_of_order",
        """
        with few as materialized (
            select r.device_identifier from registrations r
            where r.order_type = $1::text and r.order_identifier = $2::text limit $3::bigint)
        select d.device_identifier from devices d
        where d.order_type = $1::text and d.device_identifier in (select f.device_identifier from few f)
        order by d.device_identifier for update of d
        """
    )

    /// Erase, ahead of the rest: registrations of devices that are locked. Index: registrations_pkey.
    static let dropRegistrations = Statement(
        "drop_registrations",
        """
        delete from registrations where order_type = $1::text and order_identifier = $2::text
            and device_identifier = any($3::text[])
        """
    )

    /// Erase, fourth: everything but the head, which stays as a tombstone. Indexes: the primary keys,
    /// registrations_by_order, share_links_by_order, device_log_by_order, idempotency_by_order. A repeated request is still
    /// recognised by its key, but its answer is empty.
    static let eraseContents = Statement(
        "erase_contents",
        """
        with d as (delete from order_documents where order_type = $1::text and order_identifier = $2::text),
        p as (delete from order_parts where order_type = $1::text and order_identifier = $2::text),
        s as (delete from order_strings where order_type = $1::text and order_identifier = $2::text),
        v as (delete from order_revisions where order_type = $1::text and order_identifier = $2::text),
        e as (delete from order_events where order_type = $1::text and order_identifier = $2::text),
        r as (delete from registrations where order_type = $1::text and order_identifier = $2::text),
        l as (delete from share_links where order_type = $1::text and order_identifier = $2::text),
        n as (delete from package_reads where order_type = $1::text and order_identifier = $2::text),
        g as (delete from device_log where order_type = $1::text and order_identifier = $2::text),
        k as (update idempotency set result = '{}'
            where order_type = $1::text and order_identifier = $2::text and status <> 0)
        update orders set erased_at = clock_timestamp(), order_number = null, fulfillment_statuses = '{}'
        where order_type = $1::text and order_identifier = $2::text
        """
    )

    /// Erase, fifth: contents that nothing pins any more; a later statement than the one that took the pins away.
    /// Indexes: assets_pkey, order_parts_by_digest, type_parts_by_digest.
    static let dropLooseAssets = Statement(
        "drop_loose_assets",
        """
        delete from assets a where a.order_type = $1::text and a.digest = any($2::bytea[])
            and not (select exists (select from order_parts p
                where p.order_type = a.order_type and p.digest = a.digest))
            and not (select exists (select from type_parts t
                where t.order_type = a.order_type and t.digest = a.digest))
        """
    )

    /// Erase, last: devices left without an order; a later statement than the deletion it looks at.
    /// Indexes: devices_pkey, registrations_pkey.
    static let dropEmptyDevices = Statement(
        "drop_empty_devices",
        """
        delete from devices d where d.order_type = $1::text and d.device_identifier = any($2::text[])
            and not exists (select from registrations r where r.order_type = $1::text
                and r.device_identifier = d.device_identifier)
        """
    )
}
