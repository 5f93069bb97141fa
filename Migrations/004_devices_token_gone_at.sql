-- When a device lost its push token: it is kept for 30 days from then, dormant, not from its last registration. For those
-- that are without one already, the time begins now.
alter table devices add column token_gone_at timestamptz;
update devices set token_gone_at = clock_timestamp() where push_token is null;
drop index devices_silent;
create index devices_silent on devices (token_gone_at) where push_token is null;
