// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import DeviceAPI

extension DeviceAPITests {
    /// What devices sent in the field, with each body as it came.
    @Suite("Device log samples")
    struct LogSampleTests {
        private static let bodies: [(meaning: String, body: JSONValue)] = {
            let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(
                separator: "/"
            )
            let path = root + "/OrderModelTests/Fixtures/webservice-log-bodies.json"
            guard let bytes = try? Files.read(path), let samples = try? JSONValue(parsing: bytes).arrayValue else {
                return []
            }
            return samples.compactMap { sample in
                guard let meaning = sample["meaning"]?.stringValue, let body = sample["body"] else { return nil }
                return (meaning, body)
            }
        }()

        @Test("each body is taken as it is, with all its lines")
        func bodies() async throws {
            #expect(Self.bodies.count == 6)
            try await withDoors { doors in
                var lines: [String] = []
                for (meaning, body) in Self.bodies {
                    let answer = await doors.device.send(.post, "/shop/v1/log", json: body)
                    #expect(answer.status == .ok && answer.body.isEmpty, "\(meaning)")
                    lines += body["logs"]?.arrayValue?.compactMap(\.stringValue) ?? []
                }
                #expect(lines.count == 7)
                let kept = try await doors.shop.store.deviceLog(limit: 100).reversed()
                #expect(
                    kept.map(\.line.kind) == [
                        "no-last-modified", "not-304", "unregistered", "authentication", "authentication", "unchanged",
                        "authentication",
                    ]
                )
                // The moment and the words are the device's own, but for its identifier.
                for (line, entry) in zip(lines, kept) { #expect(entry.line.message.hasPrefix(line.prefix(50))) }
                #expect(!kept.contains { $0.line.message.contains("000000000000000000000000000000") })
            }
        }
    }
}
