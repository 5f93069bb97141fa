-- SPDX-License-Identifier: Apache-2.0
--
-- Orders, the devices that follow them, and the push tickets inside the devices' rows.
--
-- Rules that the tables lean on:
--   * Every key is led by the order type and every statement names it, so that one type can live on one shard.
--   * Text is collated "C": keys sort as bytes, the same on every machine, and the lock order is the same everywhere.
--   * There are no foreign keys between orders, devices and registrations. Rows are locked in the order
--     orders -> devices, each sorted by key; a foreign key would take locks of its own in another order.
--   * Documents are text, not jsonb: a number comes back as it was sent.
--   * No index may hold mark, revision or modified_at of orders: head updates stay heap-only.

-- One row a type: it finds the types that have tickets due and counts changes of the type's own files.
create table order_types (
    order_type    text collate "C" primary key,
    parts_version bigint not null default 1,
    settings      text collate "C" not null default '{}',
    created_at    timestamptz not null default clock_timestamp()
) with (fillfactor = 80);

-- The narrow head. Lists, conditional requests and registrations read this row only.
create table orders (
    order_type           text collate "C" not null,
    order_identifier     text collate "C" not null,
    revision             bigint not null,
    modified_at          timestamptz not null,
    made_at              timestamptz not null,
    mark                 bigint not null,
    digest               bytea not null,
    parts_digest         bytea not null,
    parts_version        bigint not null,
    status               text collate "C" not null,
    fulfillment_statuses text[] collate "C" not null default '{}',
    order_number         text collate "C",
    created_at           timestamptz not null,
    token_kid            integer not null,
    token_nonce          bytea not null,
    erased_at            timestamptz,
    primary key (order_type, order_identifier),
    check (octet_length(order_identifier) between 1 and 255),
    check (revision >= 1),
    check (octet_length(digest) = 32)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index orders_by_number on orders (order_type, order_number) where order_number is not null;

-- The document and what its fold needs. Apart from the head, so that heads stay narrow.
create table order_documents (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    document         text collate "C" not null,
    base             text collate "C" not null,
    base_until       timestamptz,
    folded_to        text collate "C" not null,
    fold_state       text collate "C" not null,
    stamped_at       timestamptz,
    primary key (order_type, order_identifier)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

alter table order_documents alter column document set compression pglz;

-- What changed with each revision, not the whole document.
create table order_revisions (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    revision         bigint not null,
    modified_at      timestamptz not null,
    recorded_at      timestamptz not null default clock_timestamp(),
    cause            text collate "C" not null,
    actor            text collate "C",
    changes          text collate "C" not null,
    primary key (order_type, order_identifier, revision)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);

-- Pages of "updated since". Insert-only, so that it costs no update of the head its heap-only way.
create index order_revisions_by_time on order_revisions (order_type, modified_at, order_identifier);

-- The log that a document is folded from. The key is the idempotency of an event.
create table order_events (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    event_identifier text collate "C" not null,
    kind             text collate "C" not null check (kind in ('event', 'edit')),
    occurred_at      timestamptz not null,
    received_at      timestamptz not null default clock_timestamp(),
    fingerprint      bytea not null,
    body             text collate "C" not null,
    verdict          text collate "C" not null,
    reason           text collate "C",
    changes          text collate "C" not null,
    revision         bigint not null,
    modified_at      timestamptz not null,
    actor            text collate "C",
    primary key (order_type, order_identifier, event_identifier)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);

-- Files of an order, pinned by content when a revision is made. origin says who put the file there:
-- 'order' (sent for this order), 'type' (pinned from the type's files), 'strings' (made from the strings tables).
create table order_parts (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    name             text collate "C" not null,
    digest           bytea not null,
    origin           text collate "C" not null check (origin in ('order', 'type', 'strings')),
    primary key (order_type, order_identifier, name)
) with (fillfactor = 90);

-- The sweep of unused contents asks who pins one.
create index order_parts_by_digest on order_parts (order_type, digest);

-- Files of a type. stem is the name without folder, resolution and extension: what a document refers to.
create table type_parts (
    order_type text collate "C" not null,
    name       text collate "C" not null,
    stem       text collate "C" not null,
    digest     bytea not null,
    changed_at timestamptz not null default clock_timestamp(),
    primary key (order_type, name)
);

create index type_parts_by_stem on type_parts (order_type, stem);
create index type_parts_by_digest on type_parts (order_type, digest);

-- Contents, once a type. Written outside the row and not compressed: images already are.
create table assets (
    order_type text collate "C" not null,
    digest     bytea not null,
    bytes      bytea not null,
    used_at    timestamptz not null default clock_timestamp(),
    primary key (order_type, digest),
    check (octet_length(digest) = 32)
);

alter table assets alter column bytes set storage external;

-- Strings tables, as JSON objects. An order's own keys go over the type's.
create table type_strings (
    order_type text collate "C" not null,
    locale     text collate "C" not null,
    strings    text collate "C" not null,
    changed_at timestamptz not null default clock_timestamp(),
    primary key (order_type, locale)
);

create table order_strings (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    locale           text collate "C" not null,
    strings          text collate "C" not null,
    primary key (order_type, order_identifier, locale)
);

-- One row a device and type. The push ticket is part of it: due when due_at is not null. Three row versions
-- a push are normal here, hence the free space and the eager vacuum.
create table devices (
    order_type        text collate "C" not null,
    device_identifier text collate "C" not null,
    push_token        text collate "C",
    token_digest      bytea,
    token_since       timestamptz,
    mark              bigint not null,
    due_at            timestamptz,
    claim             uuid,
    attempts          integer not null default 0,
    first_failed_at   timestamptz,
    pushed_at         timestamptz,
    outcome           text collate "C",
    reason            text collate "C",
    dead              boolean not null default false,
    primary key (order_type, device_identifier)
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

create index devices_due on devices (order_type, due_at) where due_at is not null;
create index devices_silent on devices (order_type, device_identifier) where push_token is null;
create index devices_dead on devices (order_type, device_identifier) where dead;

create table registrations (
    order_type        text collate "C" not null,
    device_identifier text collate "C" not null,
    order_identifier  text collate "C" not null,
    mark              bigint not null,
    registered_at     timestamptz not null default clock_timestamp(),
    primary key (order_type, device_identifier, order_identifier)
) with (autovacuum_vacuum_scale_factor = 0.05);

create index registrations_by_order on registrations (order_type, order_identifier);

-- Answers kept for a repeated request. Not partitioned by day: a key that must contain the day would be
-- accepted twice around midnight. result never holds an authentication token.
create table idempotency (
    order_type       text collate "C" not null,
    route            text collate "C" not null,
    key              text collate "C" not null,
    fingerprint      bytea not null,
    order_identifier text collate "C",
    status           integer not null,
    result           text collate "C" not null,
    expires_at       timestamptz not null,
    primary key (order_type, route, key),
    check (octet_length(key) between 1 and 255)
);

create index idempotency_by_expiry on idempotency (expires_at);

-- Links to one order's package, found by the digest of a token that only its holder knows.
create table share_links (
    token_digest     bytea primary key,
    share_identifier text collate "C" not null,
    token_kid        integer not null,
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    created_at       timestamptz not null default clock_timestamp(),
    expires_at       timestamptz not null,
    revoked_at       timestamptz
);

create unique index share_links_by_order on share_links (order_type, order_identifier, share_identifier);
create index share_links_by_expiry on share_links (expires_at);

-- Keys of merchants: the digest of the secret, never the secret. order_types null means every type.
create table api_keys (
    key_identifier text collate "C" primary key,
    secret_digest  bytea not null,
    name           text collate "C" not null,
    scopes         text[] collate "C" not null,
    order_types    text[] collate "C",
    created_at     timestamptz not null default clock_timestamp(),
    expires_at     timestamptz,
    revoked_at     timestamptz,
    last_used_at   timestamptz
);

-- What devices report, bounded by retention.
create table device_log (
    entry            bigint generated always as identity primary key,
    received_at      timestamptz not null default clock_timestamp(),
    kind             text collate "C" not null,
    order_type       text collate "C",
    order_identifier text collate "C",
    message          text collate "C" not null
);

create index device_log_by_order on device_log (order_type, order_identifier, entry) where order_identifier is not null;
create index device_log_by_time on device_log (received_at);

-- Which revisions were fetched, counted, written in batches: the story of an order needs them, a request does not wait.
create table package_reads (
    order_type       text collate "C" not null,
    order_identifier text collate "C" not null,
    revision         bigint not null,
    full_answers     bigint not null default 0,
    not_modified     bigint not null default 0,
    first_at         timestamptz not null,
    last_at          timestamptz not null,
    primary key (order_type, order_identifier, revision)
) with (fillfactor = 70);

-- Type-level changes that are being rolled out to open orders, batch by batch; the cursor is the last order done.
create table refreshes (
    order_type text collate "C" primary key,
    target     bigint not null,
    cursor     text collate "C" not null default '',
    claim      uuid,
    claimed_at timestamptz,
    done       bigint not null default 0,
    started_at timestamptz not null default clock_timestamp()
);
