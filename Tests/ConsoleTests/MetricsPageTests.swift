// SPDX-License-Identifier: Apache-2.0
import Console
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension ConsoleTests {
    @Suite("Metrics page")
    struct MetricsPageTests {
        @Test("is in Prometheus' text format to the letter, and shows tickets and certificates of each type")
        func format() async throws {
            try await withConsole { _, client, shop in
                let created = try await shop.database.create("one")
                let device = try Samples.device("phone")
                _ = try await shop.store.register(device, pushToken: try Samples.token(1), for: created.key)
                _ = try await shop.store.apply(try Samples.event("e1"), to: created.key)
                shop.metrics.counter(
                    "odd_label_total",
                    help: "A label that must be escaped.",
                    labels: [("value", "a\"b\\c\nd")]
                ).increment()
                shop.metrics.histogram("answer_seconds", help: "Durations.", labels: [("route", "x")]).observe(0.2)
                let answer = await client.send(.get, "/metrics")
                #expect(answer.status == .ok)
                #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
                let text = answer.text
                #expect(text.contains("walletorders_push_tickets{order_type=\"\(Samples.shop)\",state=\"due\"} 1\n"))
                #expect(text.contains("walletorders_certificate_expiry_seconds{order_type=\"\(Samples.bakery)\"} "))
                let checked = try await ChildProcess.run(
                    "/usr/bin/env",
                    ["python3", "-c", Self.checker],
                    input: answer.body.joined
                )
                #expect(checked.status == 0, "\(checked.errorText)")
                #expect(Int(checked.text.split(separator: "\n").last ?? "") ?? 0 >= 8)
            }
        }

        @Test("a type that is no longer served, and tickets while the database is away, are left out")
        func leftOut() async throws {
            try await withConsole { _, client, shop in
                let created = try await shop.database.create("one")
                _ = try await shop.store.register(
                    try Samples.device("phone"),
                    pushToken: try Samples.token(1),
                    for: created.key
                )
                _ = try await shop.store.apply(try Samples.event("e1"), to: created.key)
                let before = await client.send(.get, "/metrics").text
                #expect(before.contains("walletorders_certificate_expiry_seconds{order_type=\"\(Samples.bakery)\"} "))
                #expect(before.contains("\nwalletorders_push_tickets{"))
                #expect(before.contains("\nwalletorders_oldest_due_ticket_seconds "))
                shop.types.replace(shop.types.all.filter { $0.identifier.text != Samples.bakery })
                let removed = await client.send(.get, "/metrics").text
                #expect(!removed.contains("{order_type=\"\(Samples.bakery)\"}"))
                #expect(removed.contains("walletorders_certificate_expiry_seconds{order_type=\"\(Samples.shop)\"} "))
                await shop.database.client.close()
                let away = await client.send(.get, "/metrics").text
                #expect(!away.contains("walletorders_push_tickets"))
                #expect(!away.contains("walletorders_oldest_due_ticket_seconds"))
                let lines = shop.log.text.split(separator: "\n")
                let line = lines.first { $0.contains("ticket numbers could not be read") }
                #expect(line?.contains("the database client has been closed") == true, "\(shop.log.text)")
                #expect(away.contains("walletorders_certificate_expiry_seconds{order_type=\"\(Samples.shop)\"} "))
            }
        }

        @Test(
            "the checker itself refuses what Prometheus refuses",
            arguments: [
                "a 1", "# TYPE a counter\na 1\n", "# HELP a x\n# TYPE a counter\na_total{x=1} 1\n",
                "# HELP a x\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\n", "# HELP a x\n# TYPE a gauge\na nought\n",
                "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
                "# HELP a x\n# TYPE a gauge\nb 1\n",
            ]
        )
        func checkerFails(text: String) async throws {
            let checked = try await ChildProcess.run(
                "/usr/bin/env",
                ["python3", "-c", Self.checker],
                input: Array(text.utf8)
            )
            #expect(checked.status != 0)
        }

        /// A strict reader of the text format 0.0.4 with promtool's lint on names; prints how many samples there were.
        static let checker = #"""
            import re, sys
            text = sys.stdin.buffer.read().decode("utf-8")
            assert text.endswith("\n"), "no line end"
            name = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
            label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
            sample = re.compile(r"(%s)(?:\{(%s(?:,%s)*)\})? (\S+)" % (name, label, label))
            number = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf)|NaN")
            helps, kinds, seen, count, current = {}, {}, set(), 0, None
            buckets = {}
            for line in text[:-1].split("\n"):
                if line.startswith("# HELP "):
                    current, words = line[7:].split(" ", 1)
                    assert re.fullmatch(name, current) and words and current not in helps, line
                    helps[current] = words
                    continue
                if line.startswith("# TYPE "):
                    of, kind = line[7:].split(" ")
                    assert of == current and of not in kinds and kind in ("counter", "gauge", "histogram"), line
                    assert kind != "counter" or of.endswith("_total"), line
                    assert kind == "counter" or not of.endswith("_total"), line
                    kinds[of] = kind
                    continue
                match = sample.fullmatch(line)
                assert match, line
                of, labels, value = match.groups()
                assert number.fullmatch(value), line
                family = of
                if kinds.get(current) == "histogram": family = re.sub(r"_(bucket|sum|count)$", "", of)
                assert family == current and family in kinds, line
                assert (of, labels) not in seen, line
                seen.add((of, labels))
                pairs = re.findall(label, labels or "")
                names = [pair.split("=")[0] for pair in pairs]
                assert len(set(names)) == len(names), line
                if of.endswith("_bucket"):
                    place = (family, ",".join(p for p in pairs if not p.startswith("le=")))
                    assert buckets.get(place, 0) <= float(value), line
                    buckets[place] = float(value)
                count += 1
            assert set(helps) == set(kinds)
            print(count)
            """#
    }
}
