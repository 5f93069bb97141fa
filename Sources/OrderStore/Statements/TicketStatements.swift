// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Push tickets, which live in the devices' rows.
enum TicketStatements {
    /// Types with something due; one probe a type. Index: devices_due.
    static let findDueTypes = Statement(
        "find_due_types",
        """
        select t.order_type from order_types t
        where exists (select from devices d where d.order_type = t.order_type and d.due_at <= now())
        """
    )

    /// Takes up to `room` due tickets under a fresh claim and a lease of 30 s. The inner select is a fence: without it
    /// the planner may update more rows than its limit. `floor` keeps it from walking the dead index entries below the
    /// last claim. One row without a device comes back when nothing is due, for its clock. Indexes: devices_due, then devices_pkey
    /// and the first entry of a device in registrations_pkey.
    static let claimTickets = Statement(
        "claim_tickets",
        """
        with due as materialized (
            select device_identifier from devices
            where order_type = $1::text and due_at <= now() and due_at >= $2::timestamptz
            order by due_at limit $3::bigint for no key update skip locked),
        taken as (
            update devices d set claim = $4::uuid, due_at = now() + interval '30 seconds', attempts = d.attempts + 1
            from due where d.order_type = $1::text and d.device_identifier = due.device_identifier
            returning d.device_identifier, d.push_token, d.token_digest, d.token_since, d.mark, d.attempts::bigint,
                d.first_failed_at, case when d.outcome = 'retry' then d.reason end,
                (select r.order_identifier from registrations r
                    where r.order_type = $1::text and r.device_identifier = d.device_identifier
                    order by r.order_identifier limit 1))
        select t.*, now() from (values (true)) one (row) left join taken t on true
        """
    )

    /// The answers of one claim. A late answer of a lost lease matches no claim and changes nothing; a mark that moved
    /// on while the push was in flight makes the ticket due again after a second. Index: devices_pkey, locked in order.
    static let settleTickets = Statement(
        "settle_tickets",
        """
        with mine as materialized (
            select d.device_identifier, a.mark, a.verdict, a.wait, a.reason
            from devices d
            join unnest($3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
                a(device_identifier, mark, verdict, wait, reason) on a.device_identifier = d.device_identifier
            where d.order_type = $1::text and d.claim = $2::uuid
            order by d.device_identifier for no key update of d)
        update devices d set claim = null, outcome = m.verdict, reason = m.reason,
            attempts = case when m.verdict = 'retry' then d.attempts else 0 end,
            first_failed_at = case when m.verdict = 'retry' then coalesce(d.first_failed_at, now()) end,
            pushed_at = case when m.verdict = 'sent' then now() else d.pushed_at end,
            dead = (m.verdict = 'dead' and d.mark = m.mark),
            due_at = case when d.push_token is null then null
                when m.verdict = 'retry' then now() + m.wait * interval '1 microsecond'
                when d.mark = m.mark then null
                else now() + interval '1 second' end
        from mine m where d.order_type = $1::text and d.device_identifier = m.device_identifier
        """
    )

    /// Hands tickets back that were claimed and not sent: due now, the try not counted. Index: devices_pkey.
    static let releaseTickets = Statement(
        "release_tickets",
        """
        with mine as materialized (
            select d.device_identifier from devices d
            where d.order_type = $1::text and d.device_identifier = any($3::text[]) and d.claim = $2::uuid
            order by d.device_identifier for no key update)
        update devices d set claim = null, attempts = greatest(d.attempts - 1, 0),
            due_at = case when d.push_token is null then null else now() end
        from mine m where d.order_type = $1::text and d.device_identifier = m.device_identifier
        """
    )

    /// Gives a ticket up that can't be read. Index: devices_pkey.
    static let setAside = Statement(
        "set_ticket_aside",
        """
        update devices set dead = true, due_at = null, claim = null, outcome = 'dead', reason = 'unreadable'
        where order_type = $1::text and claim = $2::uuid and device_identifier = $3::text
        """
    )

    /// Forgets a token that APNs no longer knows, unless it was registered again since. Registrations and marks go on;
    /// the next registration finds another digest and is due at once. From the time of this on, not of the last
    /// registration, which may be a year ago, the device is kept for 30 days. Index: devices_pkey.
    static let pruneToken = Statement(
        "prune_token",
        """
        update devices set push_token = null, token_digest = null, due_at = null, claim = null, attempts = 0,
            first_failed_at = null, outcome = 'pruned', reason = $5::text, token_gone_at = clock_timestamp()
        where order_type = $1::text and device_identifier = $2::text and token_digest = $3::bytea
            and token_since < $4::timestamptz
        """
    )

    /// Index: devices_dead.
    static let listDead = Statement(
        "list_dead",
        """
        select order_type, device_identifier, outcome, reason, pushed_at from devices
        where dead and ($1::text is null or order_type = $1::text)
        order by order_type, device_identifier limit $2::bigint
        """
    )

    /// Index: devices_dead. A report.
    static let countDead = Statement(
        "count_dead",
        "select order_type, coalesce(reason, ''), count(*) from devices where dead group by 1, 2"
    )

    /// Dead tickets due again, all of a type or one device's. Index: devices_dead, locked in order.
    static let redrive = Statement(
        "redrive",
        """
        with dead as materialized (
            select device_identifier from devices
            where dead and order_type = $1::text and ($2::text is null or device_identifier = $2::text)
            order by device_identifier limit 1000 for no key update)
        update devices d set dead = false, attempts = 0, first_failed_at = null,
            due_at = case when d.push_token is null then null else now() end
        from dead x where d.order_type = $1::text and d.device_identifier = x.device_identifier
        """
    )

    /// Every device of one order due now, whatever it holds. Indexes: registrations_by_order, devices_pkey.
    static let pushOrder = Statement(
        "push_order",
        """
        with target as materialized (
            select d.device_identifier from devices d
            where d.order_type = $1::text and d.push_token is not null and d.device_identifier in (
                select r.device_identifier from registrations r
                where r.order_type = $1::text and r.order_identifier = $2::text)
            order by d.device_identifier for no key update of d)
        update devices d set dead = false, attempts = 0, first_failed_at = null,
            due_at = case when d.claim is null then now() else coalesce(d.due_at, now()) end
        from target t where d.order_type = $1::text and d.device_identifier = t.device_identifier
        """
    )

    /// Index: devices_due, its first entry a type.
    static let findOldestDue = Statement(
        "find_oldest_due",
        """
        select (extract(epoch from clock_timestamp() - min(x.due_at)) * 1000000)::bigint
        from order_types t cross join lateral (
            select d.due_at from devices d where d.order_type = t.order_type and d.due_at <= clock_timestamp()
            order by d.due_at limit 1) x
        """
    )

    /// Indexes: devices_due, devices_dead. A report: metrics ask every few seconds, not each request.
    static let countTickets = Statement(
        "count_tickets",
        """
        select t.order_type,
            (select count(*) from devices d where d.order_type = t.order_type and d.due_at is not null
                and d.claim is null),
            (select count(*) from devices d where d.order_type = t.order_type and d.due_at is not null
                and d.claim is not null),
            (select count(*) from devices d where d.order_type = t.order_type and d.dead)
        from order_types t order by t.order_type
        """
    )

    /// One wake-up; sent outside the change's transaction, because NOTIFY inside one takes a lock at commit.
    static let notify = Statement("notify_tickets", "select pg_notify('walletorders_tickets', $1::text)")
}
