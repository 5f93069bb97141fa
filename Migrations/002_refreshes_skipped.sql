-- Orders that a roll-out could not revise in its present pass, since they were busy or the database was: with any, it begins
-- again from the first order instead of ending.
alter table refreshes add column skipped bigint not null default 0;
