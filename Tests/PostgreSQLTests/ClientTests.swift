// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

struct ClientTests {
    @Test("Every kind of value comes back as it was sent")
    func roundTrip() async throws {
        let statement = Statement(
            "test_round_trip",
            """
            select $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::text, $7::bytea, $8::timestamptz, $9::uuid,
                $10::interval, $11::text[], $12::int8[], $13::bytea[], $14::timestamptz[], $15::interval[], $16::bool[],
                $17::uuid[], $18::jsonb, $19::varchar, $20::int8, $21::text, $22::float4, $23::numeric, $24::int4[], $25::float8[]
            """
        )
        let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
        let values: [PostgresValue] = [
            .bool(true), .int(-7), .int4(1 << 30), .int(.min), .double(0.1), .text("Grüße, 東京 \u{1F4E6}"),
            .bytes([0, 255]),
            .timestamp(.seconds(-5)), .uuid(uuid), .interval(microseconds: -90_000_001),
            .texts(["a", nil, "", "ü\"{},"]),
            .ints([1, nil, .max]), .bytesArray([[0], nil, []]), .timestamps([.seconds(1), nil]), .intervals([5, nil]),
            .bools([true, nil, false]), .uuids([uuid, nil]), .text("{\"a\": 1}"), .text("v"), .null, .null,
            .double(1.5),
            .int(99), .ints([3]), .doubles([2.5, nil]),
        ]
        try await withClient { client in
            let rows = try await client.query(statement, values)
            let row = rows[0]
            #expect(rows.count == 1 && rows.affected == 1 && row.count == 25)
            #expect(try row.bool(0))
            #expect(try row.int(1) == -7)
            #expect(try row.int(2) == 1 << 30)
            #expect(try row.int(3) == .min)
            #expect(try row.double(4) == 0.1)
            #expect(try row.text(5) == "Grüße, 東京 \u{1F4E6}")
            #expect(try row.bytes(6) == [0, 255])
            #expect(try row.timestamp(7) == .seconds(-5))
            #expect(try row.uuid(8) == uuid && row.text(8) == uuid)
            #expect(try row.interval(9) == -90_000_001)
            #expect(try row.texts(10) == ["a", nil, "", "ü\"{},"])
            #expect(try row.ints(11) == [1, nil, .max])
            #expect(try row.bytesArray(12) == [[0], nil, []])
            #expect(try row.timestamps(13) == [.seconds(1), nil])
            #expect(try row.intervals(14) == [5, nil])
            #expect(try row.bools(15) == [true, nil, false])
            #expect(try row.uuids(16) == [uuid, nil])
            #expect(try row.text(17) == "{\"a\": 1}")
            #expect(try row.text(18) == "v")
            #expect(try row.isNull(19) && row.optionalInt(19) == nil && row.optionalText(20) == nil)
            #expect(try row.double(21) == 1.5)
            #expect(try row.ints(23) == [3])
            #expect(try row.doubles(24) == [2.5, nil])
        }
    }

    @Test("A column read as what it is not is an error that names the column and not the value")
    func decoding() async throws {
        let statement = Statement("test_decoding", "select 'Ada'::text as person, null::int as nothing")
        try await withClient { client in
            let row = try await client.query(statement)[0]
            let wrongType = #expect(throws: PostgresError.self) { try row.int(0) }
            #expect(wrongType?.code == .decoding)
            #expect(wrongType?.message == "column 0 (person) is text, not a whole number")
            #expect(throws: PostgresError(.decoding, "")) { try row.int(1) }
            #expect(throws: PostgresError(.decoding, "")) { try row.text(2) }
            #expect(throws: PostgresError(.decoding, "")) { try row.optionalText(-1) }
        }
    }

    @Test("Eight megabytes go in and come out, and can be read where they lie")
    func largeBytes() async throws {
        let statement = Statement("test_large", "select $1::bytea, length($1::bytea)")
        let large = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withClient { client in
            let row = try await client.query(statement, [.bytes(large)])[0]
            #expect(try row.bytes(0) == large)
            #expect(try row.int(1) == 8_000_000)
            let sum = try row.withBytes(0) { bytes throws(PostgresError) in bytes.byteCount }
            #expect(sum == large.count)
        }
    }

    @Test("Sessions have the settings that the store relies on, without a round trip")
    func settings() async throws {
        let statement = Statement("test_settings", "select current_setting(name) from unnest($1::text[]) name")
        let expected = [
            "TimeZone": "UTC", "plan_cache_mode": "force_generic_plan", "max_parallel_workers_per_gather": "0",
            "statement_timeout": "5s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "10s",
            "synchronous_commit": "on", "transaction_isolation": "read committed", "application_name": "walletorders",
            "server_encoding": "UTF8", "client_encoding": "UTF8",
        ]
        try await withClient { client in
            let names = expected.keys.sorted()
            let rows = try await client.query(statement, [.texts(names)])
            #expect(try rows.map { try $0.text(0) } == names.map { expected[$0] ?? "" })
        }
    }

    @Test("A thousand callers at once share four connections")
    func crowd() async throws {
        let sessions = Statement(
            "test_sessions",
            "select count(*) from pg_stat_activity where application_name = current_setting('application_name')"
        )
        try await withClient({ $0.applicationName = "crowd-\(TestServer.number())" }) { client in
            let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<1_000 {
                    group.addTask { try await client.query(TestStatements.echo, [.int(Int64(number))])[0].int(0) }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 499_500)
            #expect(try await client.query(sessions)[0].int(0) == 4)
        }
    }

    @Test("Several loops each have connections of their own, and a call stays on its loop")
    func loops() async throws {
        let cluster = try await TestServer.shared()
        let loops = try EventLoopGroup(count: 2, name: "pair")
        let client = PostgresClient(configuration: cluster.configuration, loops: loops, logger: TestServer.logger)
        var backends: Set<Int64> = []
        for loop in loops.loops {
            let backend = try await loop.run {
                let rows = try await client.query(TestStatements.backend)
                #expect(loop.isCurrent)
                return try rows[0].int(0)
            }
            backends.insert(backend)
            let inside = try await loop.run { try await client.withConnection { $0.loop === loop && loop.isCurrent } }
            #expect(inside)
        }
        #expect(backends.count == 2)
        await client.close()
        await loops.shutdown()
    }

    @Test("A batch's results come in its order, in one round trip")
    func pipeline() async throws {
        try await withClient { client in
            let numbers = try await client.withConnection { connection in
                let batch = (0..<500).map { (TestStatements.echo, [PostgresValue.int($0)]) }
                return try await connection.pipeline(batch).map { try $0[0].int(0) }
            }
            #expect(numbers == Array(0..<500))
        }
    }

    @Test("A batch larger than all buffers in between gets through, both ways at once")
    func largePipeline() async throws {
        let echo = Statement("test_echo_bytes", "select $1::bytea")
        let large = [UInt8](repeating: 0x5a, count: 200_000)
        try await withClient { client in
            let sizes = try await client.withConnection { connection in
                try await connection.pipeline((0..<100).map { _ in (echo, [.bytes(large)]) }).map {
                    try $0[0].bytes(0).count
                }
            }
            #expect(sizes == Array(repeating: 200_000, count: 100))
        }
    }

    @Test("An error in a batch is the one reported, the rest is skipped, and the connection goes on")
    func pipelineError() async throws {
        let divide = Statement("test_divide", "select 1 / $1::int")
        try await withClient { client in
            try await client.withConnection { connection in
                try await connection.script("create table things (id bigint primary key, name text)")
                let backend = try await connection.query(TestStatements.backend)[0].int(0)
                let error = await postgresError {
                    _ = try await connection.pipeline([
                        (TestStatements.insert, [.int(1), .text("one")]), (divide, [.int(0)]),
                        (TestStatements.insert, [.int(2), .text("two")]),
                    ])
                }
                #expect(error?.sqlState == "22012")
                #expect(error?.message.contains("test_divide") == true)
                #expect(try await connection.query(TestStatements.count)[0].int(0) == 0)
                #expect(try await connection.query(TestStatements.backend)[0].int(0) == backend)
            }
        }
    }

    @Test("A statement that the server does not take can be corrected")
    func badStatement() async throws {
        let bad = Statement("test_bad", "select nothing from nowhere where x = $1")
        try await withClient { client in
            for _ in 1...2 {
                let error = await postgresError { _ = try await client.query(bad, [.int(1)]) }
                #expect(error?.sqlState == "42P01")
            }
            let found = try await client.query(TestStatements.echo, [.int(3)])[0].int(0)
            #expect(found == 3)
        }
    }

    @Test("Statements parsed in front of one that met a locked table are no trouble afterwards")
    func lockedWhileParsed() async throws {
        let first = Statement("test_first", "select $1::bigint + 1")
        try await withClient({
            $0.connectionsPerLoop = 2
            $0.lockTimeout = .milliseconds(100)
        }) { client in
            try await client.withConnection { try await $0.script("create table things (id bigint, name text)") }
            try await client.withConnection { holder in
                try await holder.script("begin; lock table things in access exclusive mode")
                let error = await postgresError {
                    try await client.transaction {
                        _ = try await $0.pipeline([(first, [.int(1)]), (TestStatements.count, [])])
                    }
                }
                #expect(error?.code == .lockTimeout)
                try await holder.script("rollback")
            }
            try await atOnceWithAllConnections(client) { client in
                let rows = try await client.pipeline([(first, [.int(1)]), (TestStatements.count, [])])
                #expect(try rows[0][0].int(0) == 2)
                #expect(try rows[1][0].int(0) == 0)
            }
        }
    }

    /// Twice at once, so that both connections have their turn.
    private func atOnceWithAllConnections(
        _ client: PostgresClient,
        _ body: @escaping @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await body(client) } }
            try await group.waitForAll()
        }
    }

    @Test("A session that has a statement of this name already is left for another", arguments: [false, true])
    func strayStatement(_ inTransaction: Bool) async throws {
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            try await client.withConnection { try await $0.script("prepare test_echo as select 0::bigint") }
            let number: Int64
            if inTransaction {
                number = try await client.transaction {
                    try await $0.query(TestStatements.echo, [.int(3)])[0].int(0)
                }
            } else {
                number = try await client.query(TestStatements.echo, [.int(3)])[0].int(0)
            }
            #expect(number == 3)
        }
    }

    @Test("After a change of a column's type the sessions that knew its statements go on without an error")
    func changedColumns() async throws {
        let read = Statement("test_changed_columns", "select name from things where id = $1")
        let change = Statement("test_changed_returning", "update things set id = id where id = $1 returning name")
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            try await client.withConnection {
                try await $0.script("create table things (id bigint, name text); insert into things values (1, 'one')")
            }
            func alter(_ type: String) async throws {
                // On the same session: what it has prepared is stale from here on.
                try await client.withConnection {
                    for statement in [read, change] { _ = try await $0.query(statement, [.int(1)]) }
                    try await $0.script("alter table things alter name type \(type)")
                }
            }
            try await alter("varchar(40)")
            let rows = try await client.query(read, [.int(1)])
            #expect(try rows[0].text(0) == "one")
            try await alter("text")
            let changed = try await client.query(change, [.int(1)])
            #expect(try changed[0].text(0) == "one")
            try await alter("varchar(20)")
            let both = try await client.pipeline([(change, [.int(1)]), (read, [.int(1)])])
            #expect(try both.map { try $0[0].text(0) } == ["one", "one"])
            try await alter("text")
            let tries = Collector<Int>()
            try await client.transaction { connection in
                tries.add(1)
                _ = try await connection.query(read, [.int(1)])
            }
            #expect(tries.all.count == 2)
        }
    }

    @Test("A statement that waits behind others on its connection waits no longer than its request's time")
    func queuedBehindOthers() async throws {
        try await withClient { client in
            try await client.withConnection { connection in
                async let slow = connection.query(TestStatements.sleep, [.double(1)])
                let start = MonotonicTime.now()
                let error = await postgresError {
                    try await RequestTime.limited(to: .milliseconds(1_500)) {
                        _ = try await connection.query(TestStatements.sleep, [.double(20)])
                    }
                }
                let waited = MonotonicTime.now() - start
                #expect(error?.code == .statementTimeout)
                // From its own start it would have been a second more.
                #expect(waited >= .milliseconds(1_490) && waited < .milliseconds(2_300) * Patience.factor)
                let late = await postgresError {
                    try await RequestTime.limited(to: .milliseconds(50)) {
                        async let before = connection.query(TestStatements.sleep, [.double(0.2)])
                        _ = try await connection.query(TestStatements.echo, [.int(1)])
                        _ = try await before
                    }
                }
                #expect(late?.code == .statementTimeout)
                _ = try await slow
            }
        }
    }

    @Test("A connection that speaks COPY is given up, and the next serves")
    func copy() async throws {
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            let error = await postgresError {
                try await client.withConnection { try await $0.script("copy (select 1) to stdout") }
            }
            #expect(error?.code == .connection)
            let value = try await client.query(TestStatements.echo, [.int(3)])[0].int(0)
            #expect(value == 3)
        }
    }

    @Test("Sessions of a former primary that come back late do not cost the connections opened since")
    func lateReadOnly() async throws {
        try await withClient({ $0.connectionsPerLoop = 4 }) { client in
            try await client.withConnection { try await $0.script("create table things (id bigint, name text)") }
            @Sendable func meetReadOnly(_ connection: PostgresConnection) async throws {
                try await connection.script("begin read only")
                let error = await postgresError {
                    _ = try await connection.query(TestStatements.insert, [.int(1), .text("one")])
                }
                #expect(error?.code == .readOnly)
            }
            let first = try await client.withConnection { late -> Int64 in
                try await client.withConnection { try await meetReadOnly($0) }
                // Opened after the old ones were condemned.
                let first = try await client.query(TestStatements.backend)[0].int(0)
                try await meetReadOnly(late)
                return first
            }
            let now = try await client.query(TestStatements.backend)[0].int(0)
            #expect(now == first)
        }
    }

    @Test("A server without room left is told from one that refuses a statement, and remembered for a minute")
    func shortage() async throws {
        let full = Statement("test_full", "select test_full()")
        try await withClient { client in
            try await client.withConnection {
                try await $0.script(
                    """
                    create function test_full() returns int language plpgsql as
                    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$
                    """
                )
            }
            #expect(client.shortage == nil)
            let error = await postgresError { _ = try await client.query(full) }
            #expect(error?.code == .exhausted)
            #expect(client.shortage?.contains("53100") == true)
        }
    }

    @Test("Calls of several tasks on one connection are done one after another")
    func sharing() async throws {
        try await withClient { client in
            let sum = try await client.withConnection { connection in
                async let one = connection.query(TestStatements.echo, [.int(1)])
                async let two = connection.query(TestStatements.echo, [.int(2)])
                async let three = connection.query(TestStatements.echo, [.int(3)])
                return try await one[0].int(0) + two[0].int(0) + three[0].int(0)
            }
            #expect(sum == 6)
        }
    }

    @Test("A statement that takes too long is ended by the server's own limit")
    func statementTimeout() async throws {
        // The first statement of `withClient` has no more time than the one under test.
        try await withClient({ $0.statementTimeout = .milliseconds(500) * Patience.factor }) { client in
            let error = await postgresError { _ = try await client.query(TestStatements.sleep, [.double(3_600)]) }
            #expect(error?.code == .statementTimeout)
        }
    }

    @Test("A caller who finds all connections in use is turned away after its time")
    func busy() async throws {
        try await withClient({
            $0.connectionsPerLoop = 1
            // Enough for the session to begin.
            $0.acquireTimeout = .seconds(2) * Patience.factor
        }) { client in
            try await client.withConnection { _ in
                let error = await postgresError { _ = try await client.query(TestStatements.backend) }
                #expect(error?.code == .busy)
            }
            _ = try await client.query(TestStatements.backend)
        }
    }

    @Test("A connection left inside a transaction is not given to the next")
    func leftOpen() async throws {
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            let backend = try await client.withConnection { connection in
                try await connection.script("begin")
                return try await connection.query(TestStatements.backend)[0].int(0)
            }
            #expect(try await client.query(TestStatements.backend)[0].int(0) != backend)
        }
    }

    @Test("A session that was ended while idle is not noticed by the next caller")
    func endedWhileIdle() async throws {
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            let backend = try await client.query(TestStatements.backend)[0].int(0)
            try await withClient { other in _ = try await other.query(TestStatements.terminate, [.int(backend)]) }
            #expect(try await client.query(TestStatements.backend)[0].int(0) != backend)
        }
    }

    @Test("A refusal of the server is told at once, not after waiting")
    func refusal() async throws {
        let cluster = try await TestServer.shared()
        let loops = try EventLoopGroup(count: 1, name: "refused")
        var configuration = cluster.configuration
        configuration.database = "nowhere"
        configuration.acquireTimeout = .seconds(3_600)
        let client = PostgresClient(configuration: configuration, loops: loops, logger: TestServer.logger)
        let error = await postgresError { _ = try await client.query(TestStatements.backend) }
        #expect(error?.code == .noDatabase)
        await client.close()
        await loops.shutdown()
    }

    @Test("With no server the caller learns why, after its waiting time")
    func noServer() async throws {
        let loops = try EventLoopGroup(count: 1, name: "absent")
        var configuration = PostgresConfiguration(socketDirectory: "/tmp/wopg.absent", database: "d", user: "u")
        // One attempt at least has to fail within it.
        configuration.acquireTimeout = .milliseconds(500) * Patience.factor
        let client = PostgresClient(configuration: configuration, loops: loops, logger: TestServer.logger)
        let error = await postgresError { _ = try await client.query(TestStatements.backend) }
        #expect(error?.code == .connection)
        #expect(error?.message.contains("/tmp/wopg.absent") == true)
        await #expect(throws: (any Error).self) { try await client.ready() }
        await client.close()
        let late = await postgresError { _ = try await client.query(TestStatements.backend) }
        #expect(late?.code == .shuttingDown)
        await loops.shutdown()
    }

    @Test("Of several hosts the first that answers is used")
    func severalHosts() async throws {
        try await withClient({ $0.hosts.insert(.init(name: "/tmp/wopg.absent"), at: 0) }) { client in
            let found = try await client.query(TestStatements.echo, [.int(1)])[0].int(0)
            #expect(found == 1)
        }
    }

    @Test("Notifications arrive, also after the listening session was ended")
    func notifications() async throws {
        try await withClient { client in
            let channel = "Channel \"\(TestServer.number())\""
            let heard = Collector<String>()
            client.listen([channel]) { heard.add("\($0)=\($1)") }
            let listener = Statement(
                "test_listener",
                "select pid from pg_stat_activity where query like 'listen%' and position($1 in query) > 0"
            )
            let name = channel.split(separator: "\"")[1]
            var pid: Int64?
            while pid == nil {
                pid = try await client.query(listener, [.text(String(name))]).first?.int(0)
            }
            _ = try await client.query(TestStatements.notify, [.text(channel), .text("one")])
            try await heard.wait(for: 1)
            _ = try await client.query(TestStatements.terminate, [.int(pid ?? 0)])
            // The reconnection tells once that something may have been missed.
            try await heard.wait(for: 2)
            _ = try await client.query(TestStatements.notify, [.text(channel), .text("two")])
            try await heard.wait(for: 3)
            #expect(heard.all == ["\(channel)=one", "\(channel)=", "\(channel)=two"])
        }
    }

    @Test("That nobody listens is told once, and so is that somebody does again")
    func silentListener() async throws {
        let shared = try await TestServer.shared()
        let lines = Collector<String>()
        let sink = LogSink(form: .text, level: .notice) { lines.add(String(decoding: $0, as: UTF8.self)) }
        let folder = TestServer.directory()
        var configuration = shared.configuration
        let socket = configuration.hosts[0].name
        configuration.hosts = [.init(name: folder)]
        let loops = try EventLoopGroup(count: 1, name: "listener")
        let client = PostgresClient(
            configuration: configuration,
            loops: loops,
            logger: Logger(label: "test", sink: sink)
        )
        client.listen(["test_silent"]) { _, _ in }
        try await lines.wait(for: 1)
        // Some more tries, which are not told of.
        try await sleep(for: .milliseconds(400))
        unsafe symlink(socket, folder)
        try await lines.wait(for: 2)
        await client.close()
        await loops.shutdown()
        unsafe unlink(folder)
        #expect(lines.all.count == 2)
        #expect(lines.all[0].contains("can't listen") && lines.all[1].contains("listening to the database again"))
    }

    @Test("Closing waits for what is in use")
    func closing() async throws {
        try await withClient { client in
            let entered = Signal()
            async let slow = client.withConnection { connection in
                entered.fire()
                return try await connection.query(TestStatements.sleep, [.double(0.1)]).count
            }
            try await entered.wait()
            await client.close()
            #expect(try await slow == 1)
        }
    }

    @Test("Two statements of one name are told apart before the server is asked")
    func names() async throws {
        try await withClient { client in
            try await client.withConnection { connection in
                _ = try await connection.query(Statement("test_name", "select 1"))
                let error = await postgresError { _ = try await connection.query(Statement("test_name", "select 2")) }
                #expect(error?.message.contains("test_name") == true)
            }
        }
    }
}
