// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PushNotifications
import ServiceRuntime
import Simulators
import StoreTestSupport
import TestPatience
import Testing

/// Tickets in the database, pushes at APNs.
@Suite("Push worker: PushNotificationsTests", .database)
struct PushWorkerTests {
    /// Settled: nothing due, nothing claimed.
    static let isAtRest = "due_at is null and claim is null and outcome = 'sent'"

    @Test("a change is pushed once, and the push says no more than look")
    func onePush() async throws {
        try await withPushes { station in
            let before = WallTime.now().seconds
            try await station.changedOrder("A-1", 1..<2)
            try await station.waitForPush(1)
            try await station.expect(1, Self.isAtRest)
            #expect(station.simulator.total == 1)
            let push = try #require(station.simulator.recent.first)
            #expect(push.body == Array("{}".utf8))
            #expect(push.headers["apns-topic"] == Samples.shop)
            #expect(push.headers["apns-push-type"] == "background")
            #expect(push.headers["apns-priority"] == "5")
            let expiration = try #require(push.headers["apns-expiration"].flatMap(Int64.init))
            #expect((before + 30 * 86_400...before + 30 * 86_400 + 60).contains(expiration))
            #expect(push.headers["apns-collapse-id"]?.utf8.count == 32)
            #expect(push.headers["apns-id"]?.utf8.count == 36)
            #expect(push.headers["authorization"] == nil)
        }
    }

    @Test("a burst of 100 changes makes few pushes, and one of them is after the last change")
    func burst() async throws {
        try await withPushes { station in
            let start = MonotonicTime.now()
            try await station.changedOrder("A-1", 1..<2)
            for number in 2...100 { try await station.change("A-1", tracking: "T-\(number)") }
            try await station.expect(
                1,
                "due_at is null and claim is null and d.pushed_at >= (select to_timestamp(max(mark) / 1e6) from orders)"
            )
            let seconds = Int((MonotonicTime.now() - start).components.seconds)
            #expect((1...seconds + 2).contains(station.simulator.total))
        }
    }

    @Test("two types go over two connections with their own certificates")
    func neverCrossed() async throws {
        try await withPushes { station in
            try await station.changedOrder("A-1", 1..<11)
            try await station.changedOrder("B-1", 11..<21, type: Samples.bakery)
            try await station.expect(20, Self.isAtRest)
            #expect(station.control.connectionCount == 2)
            let topics = station.simulator.recent.map { "\($0.topic) \($0.token)" }.sorted()
            let expected =
                (1..<11).map { "\(Samples.shop) \(station.token($0))" }
                + (11..<21).map { "\(Samples.bakery) \(station.token($0))" }
            #expect(topics == expected.sorted())
        }
    }

    @Test("a push on another type's certificate is refused, the type stops and says so")
    func crossed() async throws {
        try await withPushes { station in
            station.types.replace(try PushStation.settings(port: station.port, shop: TestSigning.bakery))
            try await station.changedOrder("A-1", 1..<2)
            try await station.expectFault("TopicDisallowed")
            #expect(station.simulator.total == 0)
            try await station.expect(1, "due_at <= now() and claim is null and attempts = 0")
        }
    }

    @Test(
        "a refused certificate stops its type and keeps the tickets; with a new one they go out at once",
        arguments: ["BadCertificate", "BadCertificateEnvironment", "Forbidden"]
    )
    func refused(reason: String) async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 403, reason: reason, times: 1))
            try await station.changedOrder("A-1", 1..<2)
            try await station.expectFault(reason)
            try await station.changedOrder("B-1", 2..<3, type: Samples.bakery)
            try await station.waitForPush(2)
            try await station.expect(1, "order_type = 'order.com.example.shop' and due_at <= now() and attempts = 0")
            #expect(station.simulator.count(of: station.token(1)) == 0)
            station.types.replace(try PushStation.settings(port: station.port, shop: TestSigning.renewed))
            try await station.waitForPush(1)
            try await station.expectFault(nil)
        }
    }

    @Test("a wrong environment that is told in GOAWAY only is seen")
    func goAwayReason() async throws {
        let control = HTTP2Control()
        control.decide { _, _ in
            .goAway(.noError, debugData: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8), lastStream: 0)
        }
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-1", 1..<6)
            try await station.expectFault("BadCertificateEnvironment")
            try await station.expect(5, "due_at <= now() and claim is null and attempts = 0")
        }
    }

    @Test(
        "a header of the settings that APNs refuses stops its type and keeps the tickets; with other settings they go out",
        arguments: ["BadCollapseId", "BadExpirationDate", "BadPriority", "InvalidPushType"]
    )
    func refusedSetting(reason: String) async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 400, reason: reason, times: 1))
            try await station.changedOrder("A-1", 1..<2)
            try await station.expectFault(reason)
            try await station.expect(1, "due_at <= now() and claim is null and attempts = 0 and not dead")
            station.types.replace(try PushStation.settings(port: station.port, shop: TestSigning.renewed))
            try await station.waitForPush(1)
            try await station.expectFault(nil)
        }
    }

    @Test("a type that is no longer served has no fault, and its tickets stay")
    func removed() async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 403, reason: "Forbidden"))
            try await station.changedOrder("A-1", 1..<2)
            try await station.expectFault("Forbidden")
            station.types.replace([])
            try await station.expectFault(nil)
            try await station.expect(1, "due_at is not null and claim is null")
        }
    }

    @Test("a 410 prunes a token that was registered before its time")
    func gone() async throws {
        try await withPushes { station in
            let later = (WallTime.now().seconds + 3_600) * 1_000
            station.simulator.script(station.token(1), .init(status: 410, reason: "Unregistered", timestamp: later))
            try await station.changedOrder("A-1", 1..<3)
            try await station.expect(1, "push_token is null and due_at is null")
            try await station.expect(1, "push_token is not null and outcome = 'sent'")
        }
    }

    @Test("a 410 of before the registration leaves the token and tries again, later each time")
    func registeredSince() async throws {
        try await withPushes { station in
            station.simulator.script(
                station.token(1),
                .init(status: 410, reason: "Unregistered", timestamp: 1_000, times: 2)
            )
            try await station.changedOrder("A-1", 1..<2)
            try await station.waitForPush(1)
            try await station.expect(1, Self.isAtRest)
        }
    }

    @Test("a bad token is tried twice and then forgotten")
    func badToken() async throws {
        try await withPushes { station in
            // Another's push is taken: the settings are right, and the fault is the token's.
            try await station.changedOrder("A-0", 2..<3)
            try await station.expect(1, Self.isAtRest)
            station.simulator.script(station.token(1), .init(status: 400, reason: "BadDeviceToken"))
            try await station.changedOrder("A-1", 1..<2)
            try await station.expect(1, "outcome = 'retry' and reason = 'BadDeviceToken' and push_token is not null")
            try await station.database.run("update devices set due_at = now()")
            try await station.expect(1, "push_token is null and due_at is null and reason = 'BadDeviceToken'")
        }
    }

    @Test("one customer's made-up tokens keep no other waiting, are no alarm, and are forgotten at their second answer")
    func madeUpTokens() async throws {
        try await withPushes { station in
            for number in 1..<11 {
                station.simulator.script(station.token(number), .init(status: 400, reason: "BadDeviceToken"))
            }
            // A quiet moment: since the worker's start nobody's push was taken.
            try await station.changedOrder("A-1", 1..<11)
            try await station.expect(10, "outcome = 'retry' and reason = 'BadDeviceToken' and claim is null")
            try await station.database.create("B-1")
            try await station.register(11..<12, for: "B-1")
            try await station.change("B-1")
            // A type that is stopped looks again after five minutes: nobody waits that long here.
            try await station.waitForPush(11)
            #expect(station.worker.faults.isEmpty)
            // The other's push shows that the settings are right.
            try await station.expect(1, Self.isAtRest)
            try await station.database.run("update devices set due_at = now() where due_at is not null")
            try await station.expect(10, "push_token is null and due_at is null and reason = 'BadDeviceToken'")
            try await station.expect(1, "push_token is not null")
        }
    }

    @Test("where all tokens are bad the settings are wrong: that is told, and no token is forgotten")
    func wrongEnvironment() async throws {
        let control = HTTP2Control()
        let asked = Locked(0)
        control.decide { _, _ in
            asked.withLock { $0 += 1 }
            return .serve
        }
        try await withPushes(control: control) { station in
            for number in 1..<21 {
                station.simulator.script(station.token(number), .init(status: 400, reason: "BadDeviceToken"))
            }
            for number in 1..<21 { try await station.changedOrder("A-\(number)", number..<number + 1) }
            try await station.expectFault("BadDeviceToken")
            let fault = try #require(station.worker.faults[try PushStation.type(Samples.shop)])
            #expect(!fault.isStopped && fault.detail.contains("apns.host"), "\(fault)")
            // However long it lasts, no push is given up for it.
            try await station.expect(20, "claim is null and outcome = 'retry'")
            try await station.database.run(
                """
                update devices set first_failed_at = now() - interval '2 days', mark = mark - 172800000000, due_at = now()
                """
            )
            station.worker.settingsChanged()
            try await station.expect(20, "claim is null and (dead or attempts = 2 and due_at > now())")
            #expect(try await station.devices("dead") == 0)
            // The second answer is the one that has a token forgotten where others' pushes are taken.
            for identity in [TestSigning.renewed, TestSigning.authority.identity] {
                try await station.expect(20, "claim is null and due_at is not null")
                let before = asked.withLock { $0 }
                try await station.database.run("update devices set due_at = now()")
                station.types.replace(try PushStation.settings(port: station.port, shop: identity))
                station.worker.settingsChanged()
                let deadline = MonotonicTime.now() + Patience.long
                while asked.withLock({ $0 }) < before + 20, MonotonicTime.now() < deadline {
                    _ = try await station.devices("true")
                }
                #expect(asked.withLock { $0 } >= before + 20)
            }
            try await station.expect(20, "claim is null and due_at is not null and push_token is not null and not dead")
            for number in 1..<21 { station.simulator.script(station.token(number), .init(status: 200, reason: "")) }
            try await station.database.run("update devices set due_at = now()")
            station.types.replace(try PushStation.settings(port: station.port, shop: TestSigning.renewed))
            station.worker.settingsChanged()
            try await station.expect(20, Self.isAtRest)
            try await station.expectFault(nil)
        }
    }

    @Test("a complaint ends with its settings, also when these are replaced while the last push is under way")
    func replacedWhileUnderWay() async throws {
        let control = HTTP2Control()
        let isUnderWay = Signal()
        let mayAnswer = Signal()
        try await withPushes(control: control) { station in
            for number in 1..<7 {
                station.simulator.script(station.token(number), .init(status: 400, reason: "BadDeviceToken"))
                try await station.changedOrder("A-\(number)", number..<number + 1)
            }
            try await station.expectFault("BadDeviceToken")
            try await station.expect(6, "claim is null and outcome = 'retry'")
            for number in 1..<7 { station.simulator.script(station.token(number), .init(status: 200, reason: "")) }
            station.simulator.script(station.token(1), .init(status: 200, reason: "", after: mayAnswer))
            control.decide { request, _ in
                if request.path == "/3/device/1" { isUnderWay.fire() }
                return .serve
            }
            try await station.database.run("update devices set due_at = now()")
            station.worker.settingsChanged()
            try await isUnderWay.wait()
            station.types.replace(try PushStation.settings(port: station.port, shop: TestSigning.renewed))
            station.worker.settingsChanged()
            // Time for the worker to hear of it while the sender of before is at work.
            try await Task.sleep(for: .milliseconds(300))
            mayAnswer.fire()
            try await station.expect(6, Self.isAtRest)
            // Nothing is due any more that would have another sender made.
            try await station.expectFault(nil)
        }
    }

    @Test("a type of one device whose token is bad keeps it: nothing says that the settings are right")
    func onlyBadToken() async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 400, reason: "BadDeviceToken", times: 3))
            try await station.changedOrder("A-1", 1..<2)
            for attempts in 1...3 {
                try await station.expect(1, "outcome = 'retry' and attempts = \(attempts) and claim is null")
                try await station.database.run("update devices set due_at = now()")
            }
            try await station.waitForPush(1)
            try await station.expect(1, Self.isAtRest)
        }
    }

    @Test(
        "a token that was registered again while its last answer was on the way stays",
        arguments: [(410, "Unregistered"), (400, "BadDeviceToken")]
    )
    func registeredUnderway(status: Int, reason: String) async throws {
        let control = HTTP2Control()
        let isUnderWay = Signal()
        let isRegistered = Signal()
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-0", 2..<3)
            try await station.expect(1, Self.isAtRest)
            if status == 400 {
                station.simulator.script(station.token(1), .init(status: status, reason: reason))
                try await station.changedOrder("A-1", 1..<2)
                try await station.expect(1, "outcome = 'retry' and reason = 'BadDeviceToken' and claim is null")
            }
            station.simulator.script(station.token(1), .init(status: status, reason: reason, after: isRegistered))
            control.decide { request, _ in
                if request.path == "/3/device/1" { isUnderWay.fire() }
                return .serve
            }
            if status == 400 {
                try await station.database.run("update devices set due_at = now() where due_at is not null")
            } else {
                try await station.changedOrder("A-1", 1..<2)
            }
            try await isUnderWay.wait()
            #expect(
                try await station.store.register(
                    try Samples.device("device-1"),
                    pushToken: try Samples.token(1),
                    for: try Samples.key("A-1")
                ) == .known
            )
            isRegistered.fire()
            // Its answer is settled, and the token is still the device's.
            try await station.expect(
                1,
                "outcome in ('retry', 'pruned') and claim is null and (push_token is null or due_at > now())"
            )
            #expect(try await station.devices("push_token is not null") == 2)
        }
    }

    @Test("of the tries before a bad token only those that said the same count, and a new token starts anew")
    func badTokenAfterOthers() async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 503, reason: "ServiceUnavailable", times: 1))
            try await station.changedOrder("A-1", 1..<2)
            try await station.waitForPush(1)
            try await station.expect(1, Self.isAtRest)

            station.simulator.script(station.token(2), .init(status: 503, reason: "ServiceUnavailable", times: 1))
            try await station.changedOrder("B-1", 2..<3)
            try await station.expect(1, "reason = 'ServiceUnavailable' and attempts = 1")
            station.simulator.script(station.token(2), .init(status: 400, reason: "DeviceTokenNotForTopic"))
            try await station.database.run("update devices set due_at = now() where due_at is not null")
            try await station.expect(1, "reason = 'DeviceTokenNotForTopic' and attempts = 2 and push_token is not null")
            station.simulator.script(station.token(3), .init(status: 400, reason: "BadDeviceToken"))
            _ = try await station.store.register(
                try Samples.device("device-2"),
                pushToken: try Samples.token(3),
                for: try Samples.key("B-1")
            )
            station.worker.wake(try PushStation.type(Samples.shop))
            try await station.expect(1, "reason = 'BadDeviceToken' and attempts = 1 and push_token is not null")
            try await station.database.run("update devices set due_at = now() where due_at is not null")
            try await station.expect(1, "push_token is null and due_at is null")
        }
    }

    @Test("under a long queue another certificate is used from the next claim on, even one with the same serial number")
    func replacedUnderway() async throws {
        let control = HTTP2Control(maxConcurrentStreams: 2)
        let isUnderWay = Signal()
        control.decide { _, place in
            if place.connection == 1, place.stream >= 19 { isUnderWay.fire() }
            return .serve
        }
        let shop = TestSigning.authority.identity
        var template = TestAuthority.leafTemplate(try PushStation.type(Samples.shop), now: WallTime.now().seconds)
        template.serial = Hex.decode(shop.serial)
        let twin = try TestSigning.authority.issue(template)
        #expect(twin.serial == shop.serial)
        try await withPushes(control: control) { station in
            // The first claim of a connection does not know its limit yet.
            try await station.changedOrder("A-1", 300..<301)
            try await station.waitForPush(300)
            try await station.changedOrder("B-1", 1..<201)
            try await isUnderWay.wait()
            station.types.replace(try PushStation.settings(port: station.port, shop: twin))
            station.worker.settingsChanged()
            try await station.expect(201, Self.isAtRest)
            for number in 1..<201 { #expect(station.simulator.count(of: station.token(number)) == 1) }
            #expect(control.connectionCount == 2)
        }
    }

    @Test("a request that APNs never accepts is given up, and nothing waits behind it")
    func poison() async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 413, reason: "PayloadTooLarge"))
            try await station.changedOrder("A-1", 1..<3)
            try await station.waitForPush(2)
            try await station.expect(1, "dead and due_at is null and reason = 'PayloadTooLarge'")
            try await station.expectGivenUp(["PayloadTooLarge": 1])
            #expect(station.worker.faults.isEmpty)
            // Redriven and taken, it is no longer told of, whoever redrove it.
            station.simulator.script(station.token(1), .init(status: 200, reason: ""))
            _ = try await station.store.redrive(try PushStation.type(Samples.shop), device: nil)
            try await station.expect(2, Self.isAtRest)
            try await station.expectGivenUp(nil)
        }
    }

    @Test("one token that is told too often waits; the others don't")
    func tooManyRequests() async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: 429, reason: "TooManyRequests"))
            try await station.changedOrder("A-1", 1..<11)
            try await station.expect(9, Self.isAtRest)
            try await station.expect(1, "due_at > now() + interval '40 s' and reason = 'TooManyRequests'")
        }
    }

    @Test(
        "a push that APNs could not take goes out later",
        arguments: [(500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown")]
    )
    func later(status: Int, reason: String) async throws {
        try await withPushes { station in
            station.simulator.script(station.token(1), .init(status: status, reason: reason, times: 1))
            try await station.changedOrder("A-1", 1..<2)
            try await station.waitForPush(1)
            try await station.expect(1, Self.isAtRest + " and attempts = 0 and first_failed_at is null")
        }
    }

    @Test("two devices with one token get one push, and both tickets are settled")
    func sharedToken() async throws {
        try await withPushes { station in
            try await station.database.create("A-1")
            for name in ["one", "two"] {
                _ = try await station.store.register(
                    try Samples.device("device-\(name)"),
                    pushToken: try Samples.token(1),
                    for: try Samples.key("A-1")
                )
            }
            try await station.change("A-1")
            try await station.expect(2, Self.isAtRest)
            #expect(station.simulator.total == 1)
        }
    }

    @Test("a token that is registered while a push to the old one is under way is pushed to")
    func newToken() async throws {
        let control = HTTP2Control()
        let isUnderWay = control.withholdAnswers { $0.path == "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .seconds(1))) { station in
            try await station.changedOrder("A-1", 1..<2)
            try await isUnderWay.wait()
            _ = try await station.store.register(
                try Samples.device("device-1"),
                pushToken: try Samples.token(2),
                for: try Samples.key("A-1")
            )
            station.worker.wake(try PushStation.type(Samples.shop))
            try await station.waitForPush(2)
            try await station.expect(1, Self.isAtRest)
        }
    }

    @Test("a busy type does not keep another's lost wake-up waiting")
    func noStarvation() async throws {
        try await withPushes { station in
            try await station.database.create("B-1", type: Samples.bakery)
            try await station.register(1..<2, for: "B-1", type: Samples.bakery)
            _ = try await station.store.apply(
                try Samples.event("event-1", tracking: "T-1"),
                to: try Samples.key("B-1", type: Samples.bakery)
            )
            let start = MonotonicTime.now()
            let shop = try PushStation.type(Samples.shop)
            while station.simulator.total == 0, MonotonicTime.now() - start < Patience.long {
                station.worker.wake(shop)
                _ = try await station.devices("true")
            }
            #expect(station.simulator.total == 1)
        }
    }
}
