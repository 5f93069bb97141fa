// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import DeviceAPI

extension DeviceAPITests {
    @Suite("Device log")
    struct LogTests {
        /// Lines as devices sent them in the field.
        static let lines: [(line: String, kind: String)] = [
            (
                "[2018-01-10 11:59:51 +0100] Web service error for pass.com.example.a (https://www.example.com/): Server "
                    + "returned the pass data for serial number '0001' but did not provide a 'last-modified' header.",
                "no-last-modified"
            ),
            (
                "[2016-08-23 19:58:35 -0700] Web service error for pass.com.example.a (https://www.example.com/): Server "
                    + "ignored the 'if-modified-since' header (Tue, 23 Aug 2016 16:54:10 GMT) and returned the full "
                    + "unchanged pass data for serial number '0001'.",
                "not-304"
            ),
            (
                "[2016-08-24 10:04:38 +0800] Web service error for pass.com.example.a (https://www.example.com/): Update "
                    + "requested for unregistered serial number 0001",
                "unregistered"
            ),
            (
                "[2016-08-28 11:57:01 -0400] Unregister task (for device 00000000000000000000000000000001, pass type "
                    + "pass.com.example.a, serial number 0001; with web service url https://www.example.com/) encountered "
                    + "error: Authentication failure",
                "authentication"
            ),
            (
                "[2013-03-22 11:10:28 -0700] Web service error for pass.com.example.a (https://www.example.com/): Server "
                    + "requested update to serial number '0001', but the pass was unchanged.",
                "unchanged"
            ),
            (
                "[2025-02-13 23:05:12 +0700] Get serial #s task (for device 00000000000000000000000000000003, pass type "
                    + "pass.com.example.a, last updated (null); with web service url https://www.example.com/) encountered "
                    + "error: Unexpected response code 401",
                "authentication"
            ),
        ]

        @Test("lines are kept and counted by kind, and device identifiers in them are not")
        func kinds() async throws {
            try await withDoors { doors in
                for (line, _) in Self.lines {
                    let answer = await doors.device.send(.post, "/shop/v1/log", json: ["logs": [.string(line)]])
                    #expect(answer.status == .ok)
                    #expect(answer.body.isEmpty)
                }
                let kept = try await doors.shop.store.deviceLog(limit: 100).reversed()
                #expect(kept.map(\.line.kind) == Self.lines.map(\.kind))
                let text = kept.map(\.line.message).joined()
                #expect(!text.contains("00000000000000000000000000000001"))
                #expect(text.contains("for device #"))
                #expect(text.contains("serial number '0001'"))
                let metrics = doors.shop.metrics.text()
                #expect(metrics.contains("walletorders_device_log_lines_total{kind=\"authentication\"} 2\n"))
                #expect(metrics.contains("walletorders_device_log_lines_total{kind=\"not-304\"} 1\n"))
            }
        }

        @Test("a line that names an order stands in that order's history")
        func history() async throws {
            try await withDoors { doors in
                let uuid = "00000000-0000-4000-8000-000000000003"
                for order in ["0001", uuid, "2026/ü 7"] { _ = try await doors.create(order) }
                let type = Samples.shop
                let lines: [(line: String, order: String?)] = [
                    (
                        "Web service error for \(type) (https://www.example.com/): no data for serial number '0001'.",
                        "0001"
                    ),
                    ("Web service error for \(type) (https://a.example.com/): unregistered serial number 0001", "0001"),
                    (
                        "[2026-01-02 03:04:05 +0000] Register task (for device 00000000000000000000000000000002, order type "
                            + "\(type), order identifier \(uuid); with web service url https://www.example.com/) failed",
                        uuid
                    ),
                    ("Order identifier: \"2026/ü 7\", order type: \(type).", "2026/ü 7"),
                    ("Web service error for \(type) (https://www.example.com/): serial number 'unknown'", nil),
                    ("Web service error for \(Samples.bakery) (https://www.example.com/): serial number '0001'", nil),
                    ("Get serial #s task (for device 0003, order type \(type), last updated (null); with …)", nil),
                    ("serial number '0001'", nil), ("\(type) serial number", nil), ("\(type) serial number '0001", nil),
                ]
                for (line, _) in lines {
                    #expect(await doors.device.send(.post, "/v1/log", json: ["logs": [.string(line)]]).status == .ok)
                }
                let kept = try await doors.shop.store.deviceLog(limit: 100).reversed()
                #expect(kept.map { $0.line.key?.order.text } == lines.map(\.order))
                let history = try #require(try await doors.shop.store.history(try Samples.key("0001")))
                #expect(history.log.count == 2)
                #expect(try await doors.shop.store.history(try Samples.key(uuid))?.log.count == 1)
            }
        }

        @Test(
            "a line that names no order that there is stands in the service's log, without secrets and not without end"
        )
        func untold() async throws {
            try await withDoors { doors in
                _ = try await doors.create("0001")
                let lines = [
                    "it broke", "token \(String(repeating: "x9", count: 20))", "a\nb",
                    "for order type \(Samples.shop), order identifier 0002; gone",
                    "for order type \(Samples.shop), order identifier 0001; told",
                ]
                let body = JSONValue.object(["logs": .array(lines.map { .string($0) })])
                #expect(await doors.device.send(.post, "/v1/log", json: body).status == .ok)
                let words = "a device complains, and names no order"
                let told = doors.shop.log.text
                #expect(told.split(separator: "\n").count { $0.contains(words) } == 4, "\(told)")
                for part in ["it broke", "order identifier 0002", "\"other\""] {
                    #expect(told.contains(part), "\(part)")
                }
                #expect(!told.contains("x9x9") && !told.contains("identifier 0001"))
                let flood = JSONValue.object(["logs": .array((0..<60).map { .string("line \($0)") })])
                for host in 1...3 {
                    let sent = flood.serialized()
                    #expect(
                        await doors.device.send(.post, "/v1/log", bytes: sent, from: "192.0.2.\(host)").status == .ok
                    )
                }
                let all = doors.shop.log.text.split(separator: "\n").count { $0.contains(words) }
                #expect(all == DeviceLogs.linesInLog)
            }
        }

        @Test("what could act on a terminal is written out, secrets become digests, the rest stays")
        func readable() {
            let uuid = "00000000-0000-4000-8000-000000000003"
            let table = [
                ("a\u{1B}[31m\r\nb\u{0}\u{202E}", "a\\u{1B}[31m\\u{D}\\u{A}b\\u{0}\\u{202E}"),
                ("order \(uuid) über 🧁", "order \(uuid) über 🧁"), ("the device was asleep", "the device was asleep"),
                ("", ""), ("device", "device"),
            ]
            for (line, wanted) in table { #expect(DeviceLogText.readable(Array(line.utf8)) == wanted) }
            let token = String(repeating: "aB3-_", count: 9)
            for line in ["token \(token)", "AppleOrder \(token)", "device abc1, x", "\(token)"] {
                let text = DeviceLogText.readable(Array(line.utf8))
                #expect(text.contains("#"))
                #expect(!text.contains(token) && !text.contains("abc1"))
            }
            let device = DeviceLogText.readable(Array("device abc1".utf8))
            #expect(
                device == "device #"
                    + String(DeviceLogText.readable(Array("for device abc1,".utf8)).dropFirst(12).dropLast())
            )
        }

        @Test("malformed bodies are 400 and echo nothing; entries that are no text are left out")
        func bodies() async throws {
            try await withDoors { doors in
                for body in [
                    "", "x", "[]", "{}", #"{"logs": "secret-text"}"#, #"{"logs": {}}"#, "{\"logs\": [\"secret-text\"",
                ] {
                    let answer = await doors.device.send(.post, "/v1/log", bytes: Array(body.utf8))
                    #expect(answer.status == .badRequest)
                    #expect(!answer.text.contains("secret-text"))
                }
                let mixed = await doors.device.send(.post, "/v1/log", json: ["logs": [1, nil, ["x"], "kept"]])
                #expect(mixed.status == .ok)
                let kept = try await doors.shop.store.deviceLog(limit: 10)
                #expect(kept.map(\.line.message) == ["kept"])
                #expect(await doors.device.send(.post, "/v1/log", json: ["logs": []]).status == .ok)
                let large = [UInt8](repeating: 0x20, count: (64 << 10) + 1)
                #expect(await doors.device.send(.post, "/v1/log", bytes: large).status == .contentTooLarge)
            }
        }

        @Test("every line of a request is counted, kept or dropped")
        func counted() async throws {
            try await withDoors { doors in
                let lines = JSONValue.array([JSONValue](repeating: "x", count: 5_000))
                #expect(await doors.device.send(.post, "/v1/log", json: ["logs": lines]).status == .ok)
                let metrics = doors.shop.metrics.text()
                #expect(metrics.contains("walletorders_device_log_lines_total{kind=\"other\"} 60\n"), "\(metrics)")
                #expect(metrics.contains("walletorders_device_log_lines_total{kind=\"dropped\"} 4940\n"), "\(metrics)")
            }
        }

        @Test("a flood is answered 200, and little of it kept: by address, in all, and by line")
        func flood() async throws {
            try await withDoors { doors in
                let lines = JSONValue.array(
                    (0..<1_000).map { .string("line \($0) " + String(repeating: "x ", count: 10)) }
                )
                let body = JSONValue.object(["logs": lines]).serialized()
                for _ in 0..<5 {
                    #expect(await doors.device.send(.post, "/v1/log", bytes: body, from: "192.0.2.7").status == .ok)
                }
                var stored = try await doors.shop.store.deviceLog(limit: 1_000)
                #expect(stored.count == DeviceLogs.linesPerAddress)
                // Another address has room of its own.
                #expect(await doors.device.send(.post, "/v1/log", bytes: body, from: "192.0.2.8").status == .ok)
                stored = try await doors.shop.store.deviceLog(limit: 1_000)
                #expect(stored.count == 2 * DeviceLogs.linesPerAddress)
                // One subscriber has a whole /64, and room for one.
                for number in 1...5 {
                    let address = "2001:db8::\(number)"
                    #expect(await doors.device.send(.post, "/v1/log", bytes: body, from: address).status == .ok)
                }
                stored = try await doors.shop.store.deviceLog(limit: 1_000)
                #expect(stored.count == 3 * DeviceLogs.linesPerAddress)
                let logs = DeviceLogs(metrics: Metrics())
                let kept = (0..<500).map { logs.accept(["a", "b", "c", "d"], from: "address \($0)").count }
                #expect(kept.reduce(0, +) == DeviceLogs.linesPerMinute)
                let long = DeviceLogs(metrics: Metrics()).accept([String(repeating: "ü", count: 5_000)], from: "")
                #expect(long[0].message.utf8.count <= DeviceLogs.lineLength + 3)
            }
        }
    }
}
