-- SPDX-License-Identifier: Apache-2.0
--
-- Marks of the keys that orders' tokens are derived from. The keys are files outside the database; by these marks a machine
-- with other files under the same numbers, or without one, is known before it locks devices out. They tell nothing of the keys.
create table token_keys (
    kid         integer primary key,
    fingerprint bytea not null,
    created_at  timestamptz not null default clock_timestamp(),
    check (kid > 0),
    check (octet_length(fingerprint) = 32)
);
