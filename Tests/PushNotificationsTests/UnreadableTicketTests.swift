// SPDX-License-Identifier: Apache-2.0
import OrderStore
import StoreTestSupport
import Testing

/// A row that this program would not write.
@Suite("Unreadable tickets: PushNotificationsTests", .database)
struct UnreadableTicketTests {
    @Test("a ticket that can't be read is given up, and its neighbours go out")
    func neighbours() async throws {
        try await withPushes { station in
            try await station.database.create("A-1")
            try await station.register(1..<4, for: "A-1")
            try await station.database.run(
                "update devices set push_token = 'no token' where device_identifier = 'device-2'"
            )
            try await station.change("A-1")
            try await station.expect(2, PushWorkerTests.isAtRest)
            try await station.expect(1, "dead and reason = 'unreadable' and due_at is null and claim is null")
            try await station.expectGivenUp(["unreadable": 1])
        }
    }
}
