// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// Every hot statement is served by an index, planned without knowing its parameters, on tables of some size.
    @Suite struct PlanTests {
        static let hot: [Statement] = [
            OrderStatements.createOrder, OrderStatements.checkCreate, OrderStatements.readHead,
            OrderStatements.readPackage, OrderStatements.lockOrders, OrderStatements.peekOrders,
            OrderStatements.readDocuments, OrderStatements.readKnownEvents, OrderStatements.readAnswers,
            OrderStatements.readFoldedLog,
            OrderStatements.reviseOrders, OrderStatements.saveFold, OrderStatements.addEvents, OrderStatements.moveBase,
            OrderStatements.readLiveLog, OrderStatements.countLiveLog, OrderStatements.dropOldAnswers,
            OrderStatements.findLongLogs, OrderStatements.lockForErase,
            OrderStatements.lockDevicesOfOrder, OrderStatements.eraseContents, OrderStatements.lockAssetsOfOrder,
            OrderStatements.dropLooseAssets, OrderStatements.dropRegistrations, FileStatements.holdAssets,
            OrderStatements.dropEmptyDevices,
            DeviceStatements.confirmRegistration, DeviceStatements.shareOrder, DeviceStatements.register,
            DeviceStatements.lockDevice, DeviceStatements.removeRegistration, DeviceStatements.removeEmptyDevice,
            DeviceStatements.listChanged, DeviceStatements.readDevicesOfOrder, DeviceStatements.readLog,
            DeviceStatements.readLogOfOrder, DeviceStatements.addLogLines, DeviceStatements.addReads,
            DeviceStatements.readReads,
            TicketStatements.findDueTypes, TicketStatements.claimTickets, TicketStatements.settleTickets,
            TicketStatements.releaseTickets, TicketStatements.pruneToken, TicketStatements.redrive,
            TicketStatements.pushOrder, TicketStatements.findOldestDue,
            FileStatements.putAssets, FileStatements.readAssets, FileStatements.readParts,
            FileStatements.readOrderStrings, FileStatements.dropParts, FileStatements.putParts,
            FileStatements.readOwnPart, FileStatements.findOutdated,
            AccessStatements.readShareLink, AccessStatements.revokeShareLink, AccessStatements.addShareLink,
            AccessStatements.readAnswer, AccessStatements.keepAnswer, AccessStatements.findShareLink,
            AccessStatements.dropExpiredAnswer, AccessStatements.takeKey, AccessStatements.leaveKey,
            AccessStatements.dropLeftKey,
            ListStatements.pageByKey, ListStatements.findByNumber, ListStatements.pageByTime,
            ListStatements.readRevisions,
            UpkeepStatements.dropAnswers, UpkeepStatements.dropShareLinks, UpkeepStatements.dropLogLines,
            UpkeepStatements.sweepAssets, UpkeepStatements.timeSilentDevices, UpkeepStatements.lockSilentDevices, UpkeepStatements.dropSilentDevices,
        ]

        /// Tables that hold a row a type or less.
        static let small = ["order_types", "refreshes", "api_keys"]

        static let fill = """
            insert into order_types (order_type) select 'order.com.example.t' || n from generate_series(1, 50) n;
            insert into orders (order_type, order_identifier, revision, modified_at, made_at, mark, digest, parts_digest,
                parts_version, status, order_number, created_at, token_kid, token_nonce)
            select 'order.com.example.t' || (n % 50 + 1), 'o' || n, 1, now(), now(), n, sha256('x'), sha256('y'), 1, 'open',
                'N' || n, now(), 1, '\\x00' from generate_series(1, 20000) n;
            insert into order_documents select order_type, order_identifier, repeat('d', 400), '{}', null, '', '', null
            from orders;
            insert into order_revisions select order_type, order_identifier, 1, modified_at - mark * interval '1 second',
                now(), 'create', null, '[]' from orders;
            insert into order_events select order_type, order_identifier, 'e' || k, 'event', now(), now(), '\\x00', '{}',
                'applied', null, '[]', 1, now(), null from orders, generate_series(1, 2) k;
            insert into order_parts select order_type, order_identifier, 'logo.png', sha256(order_identifier::bytea), 'order'
            from orders;
            insert into order_strings select order_type, order_identifier, 'de', '{}' from orders;
            insert into type_parts select order_type, 'logo-' || order_identifier, 'logo', sha256(order_identifier::bytea),
                now() from orders;
            insert into assets select order_type, sha256(order_identifier::bytea), '\\x00', now() from orders;
            insert into devices (order_type, device_identifier, push_token, token_digest, token_since, mark, due_at, dead)
            select order_type, 'd' || order_identifier, 'aa', sha256('z'), now(), mark,
                case when mark % 10 = 0 then now() end, mark % 1000 = 1 from orders;
            insert into registrations select order_type, 'd' || order_identifier, order_identifier, mark, now() from orders;
            insert into idempotency select order_type, 'POST', order_identifier, '\\x00', null, 201, '', now() + mark *
                interval '1 minute' from orders;
            insert into share_links select sha256(order_identifier::bytea), order_identifier, 1, order_type, order_identifier,
                now(), now() + mark * interval '1 minute', null from orders;
            insert into device_log (received_at, kind, order_type, order_identifier, message)
            select now() - mark * interval '1 hour', 'k', order_type, order_identifier, 'm' from orders;
            insert into package_reads select order_type, order_identifier, 1, 1, 1, now(), now() from orders;
            analyze;
            create function plan_of(name text, arguments int) returns setof text language plpgsql as $$
            begin
                return query execute 'explain execute ' || name
                    || case when arguments > 0 then '(' || rtrim(repeat('null,', arguments), ',') || ')' else '' end;
            end $$;
            """

        static let plan = Statement("t_plan", "select plan_of($1::text, $2::bigint::int)")

        /// The largest `$n` of a statement.
        static func arguments(_ sql: String) -> Int {
            sql.split(separator: "$").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }.max() ?? 0
        }

        @Test func `no hot statement scans a table`() async throws {
            try await withStore { fixture in
                try await fixture.run(Self.fill)
                try await fixture.client.withConnection { connection in
                    try await connection.script("set plan_cache_mode = force_generic_plan")
                    for statement in Self.hot {
                        try await connection.script("prepare plan_\(statement.name) as \(statement.sql)")
                        let rows = try await connection.query(
                            Self.plan,
                            [.text("plan_\(statement.name)"), .int(Int64(Self.arguments(statement.sql)))]
                        )
                        let lines = try rows.map { try $0.text(0) }
                        #expect(!lines.isEmpty)
                        let scans = lines.filter { line in
                            line.contains("Seq Scan on") && !Self.small.contains { line.contains("Seq Scan on \($0)") }
                        }
                        #expect(scans.isEmpty, "\(statement.name):\n\(lines.joined(separator: "\n"))")
                    }
                }
            }
        }

        @Test func `the list of a device with thousands of orders reads indexes only`() async throws {
            try await withStore { fixture in
                try await fixture.run(Self.fill)
                try await fixture.run(
                    """
                    insert into registrations select 'order.com.example.t1', 'big', order_identifier, mark, now()
                    from orders where order_type = 'order.com.example.t1';
                    analyze registrations;
                    """
                )
                try await fixture.client.withConnection { connection in
                    try await connection.script(
                        "set plan_cache_mode = force_generic_plan; prepare big as \(DeviceStatements.listChanged.sql)"
                    )
                    let rows = try await connection.query(Self.plan, [.text("big"), .int(3)])
                    let lines = try rows.map { try $0.text(0) }.joined(separator: "\n")
                    #expect(!lines.contains("Seq Scan"), "\(lines)")
                    #expect(!lines.contains("Parallel"), "\(lines)")
                }
            }
        }

        @Test func `head updates stay heap-only`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                for number in 0..<30 {
                    _ = try await fixture.store.apply(
                        try Samples.event("e\(number)", status: nil, tracking: "\(number)"),
                        to: created.key
                    )
                }
                let indexed = Statement(
                    "t_indexed",
                    """
                    select count(*) from pg_index i join pg_class c on c.oid = i.indrelid
                    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
                    where c.relname = 'orders' and a.attname in ('mark', 'revision', 'modified_at', 'digest', 'status')
                    """
                )
                #expect(try await fixture.number(indexed) == 0)
            }
        }
    }
}
