// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Retention in batches by key, and the checks that the tables lean on instead of foreign keys.
///
/// What is over is compared with `now()`, never with `clock_timestamp()`: only a stable value bounds the walk of an index.
enum UpkeepStatements {
    /// Index: idempotency_by_expiry.
    static let dropAnswers = Statement(
        "drop_answers",
        """
        delete from idempotency where ctid = any (array(
            select ctid from idempotency where expires_at < now()
            order by expires_at limit $1::bigint for update skip locked))
        """
    )

    /// Index: share_links_by_expiry.
    static let dropShareLinks = Statement(
        "drop_share_links",
        """
        delete from share_links where ctid = any (array(
            select ctid from share_links where expires_at < now() - interval '30 days'
            order by expires_at limit $1::bigint for update skip locked))
        """
    )

    /// Index: device_log_by_time.
    static let dropLogLines = Statement(
        "drop_log_lines",
        """
        delete from device_log where ctid = any (array(
            select ctid from device_log where received_at < now() - interval '30 days'
            order by received_at limit $1::bigint for update skip locked))
        """
    )

    /// Contents that nothing pins and nobody touched for a day, among the next ones after a cursor. Comes back with the
    /// window's end and how many went. One that somebody is about to pin is passed over: waiting for it with others locked
    /// could end in a deadlock. Indexes: assets_pkey, order_parts_by_digest, type_parts_by_digest.
    static let sweepAssets = Statement(
        "sweep_assets",
        """
        with seen as materialized (
            select ctid as place, order_type, digest, used_at < clock_timestamp() - interval '1 day' as idle
            from assets where (order_type, digest) > ($1::text, $2::bytea)
            order by order_type, digest limit $3::bigint),
        loose as materialized (
            select s.place from seen s where s.idle
                and not (select exists (select from order_parts p
                    where p.order_type = s.order_type and p.digest = s.digest))
                and not (select exists (select from type_parts t
                    where t.order_type = s.order_type and t.digest = s.digest))),
        gone as (
            delete from assets where ctid = any (array(
                select a.ctid from assets a where a.ctid = any (array(select place from loose))
                    and a.used_at < clock_timestamp() - interval '1 day' for update skip locked))
            returning 1)
        select order_type, digest, (select count(*) from gone) from seen
        order by order_type desc, digest desc limit 1
        """
    )

    /// Gives devices without a token the time from which that counts, where none was noted. Index: devices_silent.
    static let timeSilentDevices = Statement(
        "time_silent_devices",
        """
        update devices set token_gone_at = clock_timestamp() where ctid = any (array(
            select ctid from devices where push_token is null and token_gone_at is null
            limit $1::bigint for no key update skip locked))
        """
    )

    /// Devices without a token for 30 days: the rows are locked here, and tested again by ``dropSilentDevices``, a later
    /// statement. Indexes: devices_silent, devices_pkey.
    static let lockSilentDevices = Statement(
        "lock_silent_devices",
        """
        with silent as materialized (
            select order_type, device_identifier from devices
            where push_token is null and token_gone_at < now() - interval '30 days'
            order by token_gone_at limit $1::bigint)
        select d.order_type, d.device_identifier from silent s
        join devices d on d.order_type = s.order_type and d.device_identifier = s.device_identifier
        order by d.order_type, d.device_identifier for update of d skip locked
        """
    )

    /// Indexes: devices_pkey, registrations_pkey.
    static let dropSilentDevices = Statement(
        "drop_silent_devices",
        """
        with gone as (
            delete from devices d using unnest($1::text[], $2::text[]) i(order_type, device_identifier)
            where d.order_type = i.order_type and d.device_identifier = i.device_identifier and d.push_token is null
                and d.token_gone_at < now() - interval '30 days'
            returning d.order_type, d.device_identifier)
        delete from registrations r using gone g
        where r.order_type = g.order_type and r.device_identifier = g.device_identifier
        """
    )

    static let readClock = Statement("read_clock", "select clock_timestamp()")

    /// Writes next to nothing, so that its commit waits as every other does: until the standby, when there is one, has all
    /// that was committed before. A transaction that only reads, or finds nothing to change, waits for nobody.
    static let awaitStandby = Statement(
        "await_standby",
        "select pg_logical_emit_message(true, 'walletorders'::text, ''::text)"
    )

    /// Invariant 1: the mark of a device is not below any mark that its list shows.
    static let markBehind = Statement(
        "check_mark_behind",
        """
        select count(*) from registrations r
        join devices d on d.order_type = r.order_type and d.device_identifier = r.device_identifier
        join orders o on o.order_type = r.order_type and o.order_identifier = r.order_identifier
        where greatest(o.mark, r.mark) > d.mark
        """
    )

    /// Invariant 2, what the tables can show of it: a device at rest was pushed after the last change of each of its
    /// orders, or registered after it. A clock that was set back can raise this count until the next change.
    static let silentDevice = Statement(
        "check_silent_device",
        """
        select count(*) from devices d
        where d.push_token is not null and not d.dead and d.due_at is null and exists (
            select from registrations r
            join orders o on o.order_type = r.order_type and o.order_identifier = r.order_identifier
            where r.order_type = d.order_type and r.device_identifier = d.device_identifier
                and o.revision > 1 and o.mark > r.mark and o.erased_at is null
                and o.mark > coalesce((extract(epoch from d.pushed_at) * 1000000)::bigint, 0))
        """
    )

    /// Invariant 3: a registration has its device and its order.
    static let orphan = Statement(
        "check_orphan",
        """
        select count(*) from registrations r
        where not exists (select from devices d where d.order_type = r.order_type
                and d.device_identifier = r.device_identifier)
            or not exists (select from orders o where o.order_type = r.order_type
                and o.order_identifier = r.order_identifier and o.erased_at is null)
        """
    )

    /// Invariant 4: each revision is at least a second later than the one before.
    static let timeStill = Statement(
        "check_time_still",
        """
        select count(*) from (
            select modified_at - lag(modified_at) over w as step, revision - lag(revision) over w as gap
            from order_revisions window w as (partition by order_type, order_identifier order by revision)) s
        where s.step < interval '1 second' or s.gap <> 1
        """
    )

    /// Invariant 4: the head is its newest revision.
    static let headApart = Statement(
        "check_head_apart",
        """
        select count(*) from orders o
        left join (select order_type, order_identifier, max(revision) as revision, max(modified_at) as modified_at
            from order_revisions group by order_type, order_identifier) v
        on v.order_type = o.order_type and v.order_identifier = o.order_identifier
        where o.erased_at is null and (v.revision is distinct from o.revision or v.modified_at is distinct from o.modified_at)
        """
    )

    /// Invariants 5 and 6: an answer to an event names a revision that was committed with it or before it.
    static let eventAhead = Statement(
        "check_event_ahead",
        """
        select count(*) from order_events e
        where not exists (select from order_revisions v where v.order_type = e.order_type
            and v.order_identifier = e.order_identifier and v.revision = e.revision)
        """
    )

    /// Invariant 7, the tables' part: head and document go together, and every pinned file has its contents.
    static let partMissing = Statement(
        "check_part_missing",
        """
        select (select count(*) from orders o where o.erased_at is null and not exists (
                select from order_documents t where t.order_type = o.order_type
                    and t.order_identifier = o.order_identifier))
            + (select count(*) from order_parts p where not exists (
                select from assets a where a.order_type = p.order_type and a.digest = p.digest))
        """
    )

    /// A ticket in flight or due belongs to a device with a token; a dead one is at rest.
    static let ticketAstray = Statement(
        "check_ticket_astray",
        """
        select count(*) from devices where (due_at is not null and push_token is null)
            or (claim is not null and due_at is null) or (dead and due_at is not null)
            or (push_token is null) <> (token_digest is null)
        """
    )
}
