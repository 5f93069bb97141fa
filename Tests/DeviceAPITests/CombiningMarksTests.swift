// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import DeviceAPI

extension DeviceAPITests {
    /// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length. Anyone may send
    /// such a run here, as often as they like.
    @Suite("Runs of combining marks")
    struct CombiningMarksTests {
        /// How often each request is sent: single ones are too short to cost much.
        private static let count = 20

        private static func marks(_ bytes: Int) -> String {
            "a" + String(repeating: "\u{301}\u{323}", count: bytes / 4)
        }

        @Test("in a body cost no route more than reading them, as long as they are let in")
        func bodies() async throws {
            try await withDoors { doors in
                let token = try await doors.create("one")
                let loop = try EventLoop(name: "marks")
                // A body has 64 KiB at most.
                let long = Self.marks(60_000)
                let registration = Doors.registrationPath("device", "one")
                let known = doors.authorization(token)
                let bodies: [(String, HTTPFields, JSONValue)] = [
                    (registration, known, ["pushToken": .string(long)]),
                    (registration, known, .object([long: 1])),
                    (registration, known, .object(["pushToken": "00aa", long: 1])),
                    ("/shop/v1/log", [:], ["logs": [.string(long)]]),
                    ("/shop/v1/log", [:], ["logs": [.string("device " + long + " order.com.example.shop")]]),
                    ("/shop/v1/log", [:], .object(["logs": ["a"], long: [.string("a")]])),
                    ("/shop/v1/log", [:], ["logs": .array((0..<60).map { .string("\($0)" + Self.marks(900)) })]),
                ]
                for (number, (path, headers, body)) in bodies.enumerated() {
                    await expectLinear("body \(number)", on: loop, times: Self.count) {
                        await doors.device.send(.post, path, headers, json: body)
                    }
                }
                await loop.shutdown()
            }
        }
    }
}
