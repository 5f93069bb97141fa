-- An erased order takes its kept answers' contents along, so they are found by the order. Built at once: the table holds the
-- requests of three days.
create index idempotency_by_order on idempotency (order_type, order_identifier) where order_identifier is not null;
