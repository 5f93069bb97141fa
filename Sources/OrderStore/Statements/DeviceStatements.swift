// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Devices and registrations.
enum DeviceStatements {
    /// R0. A registration that is known already. `token_since` must move: a late 410 is compared with it.
    /// Indexes: devices_pkey, registrations_pkey.
    static let confirmRegistration = Statement(
        "confirm_registration",
        """
        update devices d set token_since = clock_timestamp()
        where d.order_type = $1::text and d.device_identifier = $2::text and d.token_digest = $4::bytea and not d.dead
            and exists (select from registrations r where r.order_type = $1::text
                and r.device_identifier = $2::text and r.order_identifier = $3::text)
        """
    )

    /// R1. The share lock makes the registration and a change of the order see each other. Index: orders_pkey.
    static let shareOrder = Statement(
        "share_order",
        """
        select revision, mark from orders
        where order_type = $1::text and order_identifier = $2::text and erased_at is null for share
        """
    )

    /// R2. A later statement than ``shareOrder``, so that it reads the head that is locked. A registration of an order
    /// that has changed before (`revision > 1`) is due at once: the device may have fetched an older one.
    /// At most $6 devices follow an order, give or take those that register at the same moment; no row comes back for
    /// one more. The answer: was the registration new, and is the device due. Indexes: orders_pkey, devices_pkey,
    /// registrations_pkey, registrations_by_order.
    static let register = Statement(
        "register",
        """
        with head as materialized (
            select revision, mark from orders
            where order_type = $1::text and order_identifier = $3::text and erased_at is null),
        dev as (
            insert into devices as d (order_type, device_identifier, push_token, token_digest, token_since, mark, due_at)
            select $1::text, $2::text, $5::text, $4::bytea, clock_timestamp(),
                greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, h.mark + 1),
                case when h.revision > 1 then clock_timestamp() end
            from head h
            where $6::bigint > (select count(*) from (select from registrations r
                    where r.order_type = $1::text and r.order_identifier = $3::text limit $6::bigint) n)
                or exists (select from registrations r where r.order_type = $1::text
                    and r.device_identifier = $2::text and r.order_identifier = $3::text)
            on conflict (order_type, device_identifier) do update set
                mark = greatest(excluded.mark, d.mark + 1), push_token = excluded.push_token,
                token_digest = excluded.token_digest, token_since = excluded.token_since, token_gone_at = null,
                dead = false,
                claim = case when d.token_digest is distinct from excluded.token_digest then null else d.claim end,
                attempts = case when d.token_digest is distinct from excluded.token_digest then 0 else d.attempts end,
                first_failed_at = case when d.token_digest is distinct from excluded.token_digest then null
                    else d.first_failed_at end,
                reason = case when d.token_digest is distinct from excluded.token_digest then null else d.reason end,
                outcome = case when d.token_digest is distinct from excluded.token_digest then null else d.outcome end,
                due_at = case when d.token_digest is distinct from excluded.token_digest or d.dead then clock_timestamp()
                    when excluded.due_at is not null
                    then coalesce(d.due_at, greatest(clock_timestamp(), d.pushed_at + interval '1 second'))
                    else d.due_at end
            returning d.mark, d.due_at),
        added as (
            insert into registrations (order_type, device_identifier, order_identifier, mark, registered_at)
            select $1::text, $2::text, $3::text, dev.mark, clock_timestamp() from dev
            on conflict do nothing returning 1)
        select exists (select from added), dev.due_at is not null from dev
        """
    )

    /// Unregister, first of three statements in this order: the device row is what both sides lock. Index: devices_pkey.
    static let lockDevice = Statement(
        "lock_device",
        "select 1 from devices where order_type = $1::text and device_identifier = $2::text for update"
    )

    /// Index: registrations_pkey.
    static let removeRegistration = Statement(
        "remove_registration",
        """
        delete from registrations
        where order_type = $1::text and device_identifier = $2::text and order_identifier = $3::text
        """
    )

    /// The emptiness is tested by a later statement than the deletion. Indexes: devices_pkey, registrations_pkey.
    static let removeEmptyDevice = Statement(
        "remove_empty_device",
        """
        delete from devices d where d.order_type = $1::text and d.device_identifier = $2::text
            and not exists (select from registrations r where r.order_type = $1::text
                and r.device_identifier = $2::text)
        """
    )

    /// One statement, no horizon: marks of one device become visible in their own order, so the largest mark listed is
    /// a tag that misses nothing. A tag above the device's own mark is from a lost history and means all.
    /// Indexes: devices_pkey, registrations_pkey, orders_pkey.
    static let listChanged = Statement(
        "list_changed",
        """
        select r.order_identifier, greatest(o.mark, r.mark)
        from devices d
        join registrations r on r.order_type = $1::text and r.device_identifier = d.device_identifier
        join orders o on o.order_type = $1::text and o.order_identifier = r.order_identifier
        where d.order_type = $1::text and d.device_identifier = $2::text
            and greatest(o.mark, r.mark) > case when $3::bigint > d.mark then 0 else $3::bigint end
        """
    )

    /// Devices of an order and their tickets, for its history. Indexes: registrations_by_order, devices_pkey.
    static let readDevicesOfOrder = Statement(
        "read_devices_of_order",
        """
        select d.device_identifier, r.registered_at,
            case when d.push_token is not null then d.token_since end, d.due_at, d.claim is not null, d.attempts::bigint,
            d.pushed_at, d.outcome, d.reason, d.dead
        from registrations r join devices d on d.order_type = $1::text and d.device_identifier = r.device_identifier
        where r.order_type = $1::text and r.order_identifier = $2::text
        order by r.registered_at limit $3::bigint
        """
    )

    /// No index of a key: the log is small and bounded by retention.
    static let addLogLines = Statement(
        "add_log_lines",
        """
        insert into device_log (kind, order_type, order_identifier, message)
        select l.kind, o.order_type, o.order_identifier, l.message
        from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
            l(kind, order_type, order_identifier, message, place)
        left join orders o on o.order_type = l.order_type collate "C"
            and o.order_identifier = l.order_identifier collate "C" and o.erased_at is null
        order by l.place
        returning order_type is null, kind, message
        """
    )

    /// Index: device_log_pkey, backwards.
    static let readLog = Statement(
        "read_device_log",
        """
        select received_at, kind, order_type, order_identifier, message from device_log order by entry desc
        limit $1::bigint
        """
    )

    /// Index: device_log_by_order, backwards.
    static let readLogOfOrder = Statement(
        "read_device_log_of_order",
        """
        select received_at, kind, order_type, order_identifier, message from device_log
        where order_type = $1::text and order_identifier = $2::text and order_identifier is not null
        order by entry desc limit $3::bigint
        """
    )

    /// Counts of answers to package requests, sorted so that two writers lock in one order. Index: package_reads_pkey.
    static let addReads = Statement(
        "add_reads",
        """
        insert into package_reads as p (order_type, order_identifier, revision, full_answers, not_modified, first_at,
            last_at)
        select i.order_type, i.order_identifier, i.revision, sum(i.full_answers), sum(i.not_modified),
            clock_timestamp(), clock_timestamp()
        from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
            i(order_type, order_identifier, revision, full_answers, not_modified)
        join orders o on o.order_type = i.order_type and o.order_identifier = i.order_identifier
            and o.erased_at is null
        group by 1, 2, 3 order by 1, 2, 3
        on conflict (order_type, order_identifier, revision) do update set
            full_answers = p.full_answers + excluded.full_answers,
            not_modified = p.not_modified + excluded.not_modified, last_at = excluded.last_at
        """
    )

    /// Index: package_reads_pkey.
    static let readReads = Statement(
        "read_reads",
        """
        select revision, full_answers, not_modified, first_at, last_at from package_reads
        where order_type = $1::text and order_identifier = $2::text order by revision desc limit $3::bigint
        """
    )
}
