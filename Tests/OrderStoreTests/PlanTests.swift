// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// Every statement is served by an index, planned without knowing its parameters, on tables of some size.
    @Suite struct PlanTests {
        /// Statements that read whole tables, for `doctor`: none that a request or a worker waits for.
        static let reports = [
            UpkeepStatements.markBehind, UpkeepStatements.silentDevice, UpkeepStatements.orphan,
            UpkeepStatements.timeStill, UpkeepStatements.headApart, UpkeepStatements.eventAhead,
            UpkeepStatements.partMissing, UpkeepStatements.ticketAstray,
            // Stops at the first row that comes.
            TokenKeyStatements.hasOrders,
        ].map(\.name)

        /// All statements as the sources have them, so that none is left out that is new.
        static func all() throws -> [(name: String, sql: String)] {
            let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
                separator: "/"
            )
            let folder = root + "/Sources/OrderStore/Statements"
            return try Files.list(folder).flatMap { name in
                let text = String(decoding: try Files.read("\(folder)/\(name)"), as: UTF8.self)
                return text.components(between: "= Statement(", and: ["\n    )\n", "\")\n"]).map { body in
                    // A name in quotes, and the SQL in three of them or, when it is short, in one.
                    let quoted = (body + "\"").components(between: "\"", and: ["\""])
                    let sql = body.components(between: "\"\"\"", and: ["\"\"\""]).first ?? quoted.last ?? ""
                    return (String(quoted.first ?? ""), String(sql).replacing("\\\\", with: "\\"))
                }
            }
        }

        private static func words(_ sql: String) -> [Substring] { sql.split(whereSeparator: \.isWhitespace) }

        /// Tables that hold a row a type or less.
        static let small = ["order_types", "refreshes", "api_keys", "token_keys"]

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
            insert into type_strings select order_type, 'l' || order_identifier, '{}', now() from orders;
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

        @Test func `no statement but the reports scans a table`() async throws {
            let all = try Self.all()
            #expect(all.count > 100 && all.allSatisfy { !$0.name.isEmpty && !$0.sql.isEmpty })
            // What was read is what is sent.
            for statement in [OrderStatements.readPackage, UpkeepStatements.readClock, UpkeepStatements.markBehind] {
                let read = all.first { $0.name == statement.name }?.sql ?? ""
                #expect(Self.words(read) == Self.words(statement.sql))
            }
            #expect(Set(all.map(\.name)).isSuperset(of: Self.reports))
            try await withStore { fixture in
                try await fixture.run(Self.fill)
                try await fixture.client.withConnection { connection in
                    try await connection.script("set plan_cache_mode = force_generic_plan")
                    for (name, sql) in all where !Self.reports.contains(name) {
                        try await connection.script("prepare plan_\(name) as \(sql)")
                        let lines = try await Self.plan(of: name, sql, on: connection)
                        #expect(!lines.isEmpty)
                        let scans = lines.filter { line in
                            line.contains("Seq Scan on") && !Self.small.contains { line.contains("Seq Scan on \($0)") }
                        }
                        #expect(scans.isEmpty, "\(name):\n\(lines.joined(separator: "\n"))")
                    }
                }
            }
        }

        @Test func `what is over or due is found by its time, and the rest of the index is not walked`() async throws {
            try await withStore { fixture in
                try await fixture.run(Self.fill)
                try await fixture.run(
                    """
                    update devices set push_token = null, token_digest = null, due_at = null, token_gone_at = now()
                    where mark % 3 = 0; analyze devices
                    """
                )
                try await fixture.client.withConnection { connection in
                    try await connection.script("set plan_cache_mode = force_generic_plan")
                    for (statement, condition) in [
                        (UpkeepStatements.dropAnswers, "expires_at <"),
                        (UpkeepStatements.dropShareLinks, "expires_at <"),
                        (UpkeepStatements.dropLogLines, "received_at <"),
                        (UpkeepStatements.lockSilentDevices, "token_gone_at <"),
                        (UpkeepStatements.timeSilentDevices, "token_gone_at IS NULL"),
                        (TicketStatements.claimTickets, "due_at <="),
                    ] {
                        try await connection.script("prepare plan_\(statement.name) as \(statement.sql)")
                        let lines = try await Self.plan(of: statement.name, statement.sql, on: connection)
                        #expect(
                            lines.contains { $0.contains("Index Cond") && $0.contains(condition) },
                            "\(lines.joined(separator: "\n"))"
                        )
                    }
                }
            }
        }

        private static func plan(
            of name: String,
            _ sql: String,
            on connection: PostgresConnection
        ) async throws -> [String] {
            try await connection.query(plan, [.text("plan_\(name)"), .int(Int64(arguments(sql)))]).map {
                try $0.text(0)
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
                func update(_ name: String) async throws -> (all: Int64, heapOnly: Int64) {
                    let before = try await Self.headUpdates(fixture)
                    // All versions of the row fit into one page, whoever keeps the old ones from going.
                    for number in 0..<20 {
                        _ = try await fixture.store.apply(
                            try Samples.event("\(name)\(number)", status: nil, tracking: "\(name)\(number)"),
                            to: created.key
                        )
                    }
                    let counts = try await Self.headUpdates(fixture, atLeast: before.all + 20)
                    return (counts.all - before.all, counts.heapOnly - before.heapOnly)
                }
                let counts = try await update("e")
                #expect(counts == (20, 20))
                // The count tells: an index over the time of the newest revision is what must not be.
                try await fixture.run("create index t_by_time on orders (order_type, modified_at)")
                #expect(try await update("f").heapOnly < 20)
            }
        }

        @Test func `a page without a filter reads a few heads more than it shows`() async throws {
            try await withStore { fixture in
                try await fixture.run(Self.fill)
                let type = try OrderTypeIdentifier("order.com.example.t1")
                let fetched = Statement(
                    "t_fetched",
                    "select idx_tup_fetch from pg_stat_user_tables where relname = 'orders'"
                )
                func read(_ query: OrderQuery) async throws -> (heads: Int, fetched: Int64) {
                    try await Self.flushCounts(fixture)
                    let before = try await fixture.number(fetched)
                    let page = try await fixture.store.orders(query)
                    #expect(page.cursor != nil)
                    var after = before
                    while after == before {
                        try await Self.flushCounts(fixture)
                        after = try await fixture.number(fetched)
                    }
                    return (page.heads.count, after - before)
                }
                let plain = try await read(OrderQuery(orderType: type, limit: 10))
                #expect(plain.heads == 10 && plain.fetched < 150)
                // With one it may look at many.
                let filtered = try await read(OrderQuery(orderType: type, status: "open", limit: 10))
                #expect(filtered.heads == 10 && filtered.fetched > 150)
            }
        }

        private static let counts = Statement(
            "t_head_updates",
            "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'orders'"
        )
        private static let flush = Statement("t_flush", "select pg_stat_force_next_flush(), pg_sleep(0.01)")

        private static func flushCounts(_ fixture: StoreFixture) async throws {
            for _ in 1...2 { _ = try await atOnce(8) { _ in try await fixture.client.query(flush).count } }
        }

        /// How many updates of heads the server has counted; sessions tell what they did when they next end a transaction.
        private static func headUpdates(
            _ fixture: StoreFixture,
            atLeast wanted: Int64 = 0
        ) async throws -> (all: Int64, heapOnly: Int64) {
            while true {
                try await flushCounts(fixture)
                let rows = try await fixture.client.query(counts)
                let found = (all: try rows.first?.int(0) ?? 0, heapOnly: try rows.first?.int(1) ?? 0)
                if found.all >= wanted { return found }
            }
        }
    }
}

extension StringProtocol {
    /// What stands between each of the first texts and the next of the others.
    fileprivate func components(between first: String, and others: [String]) -> [SubSequence] {
        var found: [SubSequence] = []
        var rest = self[...]
        while let start = rest.firstRange(of: first) {
            rest = rest[start.upperBound...]
            let ends = others.compactMap { rest.firstRange(of: $0) }
            guard let end = ends.min(by: { $0.lowerBound < $1.lowerBound }) else { break }
            found.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return found
    }
}
