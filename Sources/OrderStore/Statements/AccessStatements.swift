// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// Keys of merchants, share links and kept answers.
enum AccessStatements {
    /// Done twice it is the same: nobody else has this identifier, which is 64 random bits. Index: api_keys_pkey.
    static let addKey = Statement(
        "add_api_key",
        """
        insert into api_keys (key_identifier, secret_digest, name, scopes, order_types, expires_at)
        values ($1::text, $2::bytea, $3::text, $4::text[], $5::text[], $6::timestamptz)
        on conflict (key_identifier) do update set name = excluded.name
            where api_keys.secret_digest = excluded.secret_digest
        """
    )

    /// Index: api_keys_pkey.
    static let readKey = Statement(
        "read_api_key",
        """
        select key_identifier, name, array_to_string(scopes, ','), array_to_string(order_types, ','), created_at,
            expires_at, revoked_at, last_used_at, secret_digest,
            revoked_at is null and coalesce(expires_at > clock_timestamp(), true)
        from api_keys where key_identifier = $1::text
        """
    )

    /// A report over a table of a few rows.
    static let listKeys = Statement(
        "list_api_keys",
        """
        select key_identifier, name, array_to_string(scopes, ','), array_to_string(order_types, ','), created_at,
            expires_at, revoked_at, last_used_at
        from api_keys order by created_at, key_identifier
        """
    )

    /// Done twice it is the same; the row is written all the same, so that the commit waits for the standby.
    /// Index: api_keys_pkey.
    static let revokeKey = Statement(
        "revoke_api_key",
        """
        update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()) where key_identifier = $1::text
        """
    )

    /// Coarse on purpose: once a minute a key, not once a request. Index: api_keys_pkey.
    static let touchKey = Statement(
        "touch_api_key",
        """
        update api_keys set last_used_at = clock_timestamp() where key_identifier = $1::text
            and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
        """
    )

    /// Only for an order that exists and is not erased. Index: orders_pkey.
    static let addShareLink = Statement(
        "add_share_link",
        """
        with head as materialized (
            select 1 from orders where order_type = $3::text and order_identifier = $4::text and erased_at is null
            for share)
        insert into share_links (token_digest, share_identifier, token_kid, order_type, order_identifier, expires_at)
        select $1::bytea, $2::text, $6::bigint::integer, $3::text, $4::text,
            clock_timestamp() + $5::bigint * interval '1 microsecond' from head
        returning expires_at
        """
    )

    /// Index: share_links_pkey.
    static let readShareLink = Statement(
        "read_share_link",
        """
        select order_type, order_identifier from share_links
        where token_digest = $1::bytea and revoked_at is null and expires_at > clock_timestamp()
        """
    )

    /// Index: share_links_by_order.
    static let revokeShareLink = Statement(
        "revoke_share_link",
        """
        update share_links set revoked_at = clock_timestamp()
        where order_type = $1::text and order_identifier = $2::text and share_identifier = $3::text
            and revoked_at is null
        """
    )

    /// Index: share_links_by_order.
    static let findShareLink = Statement(
        "find_share_link",
        """
        select token_kid::bigint, expires_at from share_links
        where order_type = $1::text and order_identifier = $2::text and share_identifier = $3::text
            and revoked_at is null and expires_at > clock_timestamp()
        """
    )

    /// Takes a key for a request before its work begins: status 0, and how many twins of the request are at work. Returns a
    /// row unless the key has an answer, or another request has it that is at work. A process that died at work holds a key
    /// for five minutes, longer than any request may take. Index: idempotency_pkey.
    static let takeKey = Statement(
        "take_key",
        """
        insert into idempotency as i (order_type, route, key, fingerprint, status, result, expires_at)
        values ($1::text, $2::text, $3::text, $4::bytea, 0, '1', clock_timestamp() + interval '5 minutes')
        on conflict (order_type, route, key) do update set fingerprint = excluded.fingerprint, order_identifier = null,
            status = 0, expires_at = excluded.expires_at,
            result = case when i.status = 0 and i.expires_at > clock_timestamp()
                then (i.result::bigint + 1)::text else '1' end
        where i.expires_at <= clock_timestamp()
            or i.status = 0 and (i.fingerprint = excluded.fingerprint or i.result = '0')
        returning 1
        """
    )

    /// The first of twins keeps its answer. One about an order is found by it when the order is erased; when it was erased
    /// meanwhile, the answer is kept without its contents. Indexes: orders_pkey, idempotency_pkey.
    static let keepAnswer = Statement(
        "keep_answer",
        """
        with head as materialized (
            select erased_at is not null as is_erased from orders
            where order_type = $1::text and order_identifier = $7::text for key share)
        insert into idempotency as i (order_type, route, key, fingerprint, order_identifier, status, result, expires_at)
        values ($1::text, $2::text, $3::text, $4::bytea, $7::text, $5::bigint::integer,
            case when (select is_erased from head) then '{}' else $6::text end, clock_timestamp() + interval '72 hours')
        on conflict (order_type, route, key) do update set fingerprint = excluded.fingerprint,
            order_identifier = excluded.order_identifier, status = excluded.status, result = excluded.result,
            expires_at = excluded.expires_at
        where i.expires_at <= clock_timestamp() or i.status = 0 and i.fingerprint = excluded.fingerprint
        """
    )

    /// A request failed and keeps nothing. Index: idempotency_pkey.
    static let leaveKey = Statement(
        "leave_key",
        """
        update idempotency set result = (result::bigint - 1)::text where order_type = $1::text and route = $2::text
            and key = $3::text and fingerprint = $4::bytea and status = 0
        """
    )

    /// The key is free when none of its twins is at work any more. Index: idempotency_pkey.
    static let dropLeftKey = Statement(
        "drop_left_key",
        """
        delete from idempotency where order_type = $1::text and route = $2::text and key = $3::text
            and fingerprint = $4::bytea and status = 0 and result = '0'
        """
    )

    /// Index: idempotency_pkey.
    static let readAnswer = Statement(
        "read_answer",
        """
        select fingerprint, order_identifier, status::bigint, result, expires_at > clock_timestamp() from idempotency
        where order_type = $1::text and route = $2::text and key = $3::text
        """
    )

    /// Index: idempotency_pkey.
    static let dropExpiredAnswer = Statement(
        "drop_expired_answer",
        """
        delete from idempotency where order_type = $1::text and route = $2::text and key = $3::text
            and expires_at <= clock_timestamp()
        """
    )
}
