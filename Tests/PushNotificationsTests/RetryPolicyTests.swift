// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OrderModel
import OrderStore
import PushNotifications
import ServiceRuntime
import Testing

@Suite("When a ticket is given up, and when a token is forgotten")
struct RetryPolicyTests {
    private static let day: Int64 = 86_400_000_000
    private static let now = Moment(microseconds: 1_800_000_000_000_000)

    private func fate(
        _ outcome: PushOutcome,
        failedSince: Int64? = nil,
        changedSince: Int64 = 10 * day,
        attempts: Int = 30,
        retryReason: String? = nil,
        way: RetryPolicy.Way = .init()
    ) throws -> RetryPolicy.Fate {
        var random = SystemRandomNumberGenerator()
        let ticket = PushTicket(
            device: try DeviceIdentifier("device-1"),
            pushToken: try PushToken("1"),
            tokenSince: Moment(microseconds: 0),
            mark: Self.now.microseconds - changedSince,
            attempts: attempts,
            firstFailedAt: failedSince.map { Moment(microseconds: Self.now.microseconds - $0) },
            retryReason: retryReason,
            order: nil
        )
        return RetryPolicy().fate(outcome, ticket: ticket, way: way, now: Self.now, using: &random)
    }

    private static let failures: [PushOutcome] = [
        .retry("InternalServerError"), .again("connection-lost"), .slowDown("TooManyRequests", seconds: 60),
        .badToken("BadDeviceToken"),
    ]

    @Test("a push that has failed for a day is given up", arguments: failures)
    func givenUp(outcome: PushOutcome) throws {
        #expect(try self.fate(outcome, failedSince: Self.day + 1_000_000) == .settle(.dead))
        #expect(try self.fate(outcome, failedSince: Self.day - 1_000_000) != .settle(.dead))
        #expect(try self.fate(outcome) != .settle(.dead))
    }

    @Test("the day counts from the last change: that is what the device is to be told", arguments: failures)
    func laterChange(outcome: PushOutcome) throws {
        let late = 300_000_000 as Int64
        #expect(try self.fate(outcome, failedSince: Self.day + late, changedSince: late) != .settle(.dead))
    }

    @Test("the day counts from when the type's pushes went on again", arguments: failures)
    func outage(outcome: PushOutcome) throws {
        var way = RetryPolicy.Way()
        way.openSince = Moment(microseconds: Self.now.microseconds - 60_000_000)
        #expect(try self.fate(outcome, failedSince: 3 * Self.day, way: way) != .settle(.dead))
    }

    @Test("while nothing of the type gets through its tickets go back as they were")
    func closed() throws {
        var way = RetryPolicy.Way()
        way.isClosed = true
        #expect(try self.fate(.retry("unreachable"), failedSince: 3 * Self.day, way: way) == .handBack)
        #expect(try self.fate(.again("connection-lost"), failedSince: 3 * Self.day, way: way) == .handBack)
        #expect(try self.fate(.badToken("BadDeviceToken"), failedSince: 3 * Self.day, way: way) == .handBack)
    }

    @Test("a bad token is forgotten at its second answer, and only where others are taken")
    func badToken() throws {
        let bad = PushOutcome.badToken("BadDeviceToken")
        #expect(try self.fate(bad, attempts: 1) == .settle(.retry(after: .seconds(60))))
        guard case .prune = try self.fate(bad, attempts: 2, retryReason: "BadDeviceToken") else {
            Issue.record("not forgotten")
            return
        }
        var way = RetryPolicy.Way()
        way.mayForget = false
        #expect(
            try self.fate(bad, attempts: 2, retryReason: "BadDeviceToken", way: way)
                == .settle(.retry(after: .seconds(120)))
        )
    }

    @Test("no push is given up for a wrong environment, only tried less often; for a bad token it is after a day")
    func wrongEnvironment() throws {
        let bad = PushOutcome.badToken("BadDeviceToken")
        let old = 2 * Self.day
        var way = RetryPolicy.Way()
        way.mayForget = false
        #expect(try self.fate(bad, failedSince: old, retryReason: "BadDeviceToken", way: way) == .settle(.dead))
        way.mayGiveUpBad = false
        let later = RetryPolicy.Fate.settle(.retry(after: .seconds(900)))
        #expect(try self.fate(bad, failedSince: old, retryReason: "BadDeviceToken", way: way) == later)
        #expect(try self.fate(.retry("InternalServerError"), failedSince: old, way: way) == .settle(.dead))
    }
}

@Suite("When given-up pushes are counted")
struct CountPaceTests {
    @Test("every five seconds, after news a second, and never twice at once")
    func pace() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var pace = CountPace()
        func expectBegin(_ expected: Bool, after milliseconds: Int64, _ location: SourceLocation = #_sourceLocation) {
            let begins = pace.begins(at: start + .milliseconds(milliseconds))
            #expect(begins == expected, sourceLocation: location)
        }
        expectBegin(true, after: 0)
        pace.noteNews()
        expectBegin(false, after: 60_000)
        pace.end(at: start + .seconds(60))
        expectBegin(false, after: 60_900)
        expectBegin(true, after: 61_000)
        pace.end(at: start + .seconds(61))
        expectBegin(false, after: 65_900)
        expectBegin(true, after: 66_000)
    }
}

@Suite("What the answers of a type say about its tokens")
struct TokenTallyTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func tally(bad: Int, taken: Int, gone: Int = 0) throws -> TokenTally {
        var tally = TokenTally(at: Self.start)
        for number in 0..<bad {
            tally.note(
                .badToken("BadDeviceToken"),
                token: SHA256.hash([UInt8(number)]),
                order: try OrderIdentifier("A-\(number)"),
                at: Self.start
            )
        }
        for _ in 0..<taken { tally.note(.sent, token: SHA256.hash([0]), order: nil, at: Self.start) }
        for _ in 0..<gone {
            tally.note(.unregistered("Unregistered", since: nil), token: SHA256.hash([0]), order: nil, at: Self.start)
        }
        return tally
    }

    @Test("more than one in twenty is an alarm, from five orders on; without any push taken it is the environment")
    func shares() throws {
        #expect(!(try self.tally(bad: 4, taken: 0).isAlarming))
        #expect(try self.tally(bad: 5, taken: 0).isWrongEnvironment)
        #expect(try self.tally(bad: 5, taken: 94).isAlarming)
        #expect(!(try self.tally(bad: 5, taken: 94).isWrongEnvironment))
        #expect(!(try self.tally(bad: 5, taken: 95).isAlarming))
    }

    @Test("a token is forgotten only where a push was taken and bad ones are few")
    func forgetting() throws {
        #expect(!(try self.tally(bad: 1, taken: 0).mayForget))
        #expect(try self.tally(bad: 1, taken: 1).mayForget)
        #expect(!(try self.tally(bad: 5, taken: 20).mayForget))
        // A wave of 410 is usual, and says nothing about the settings (reliability 1.3).
        #expect(!(try self.tally(bad: 0, taken: 0, gone: 500).isAlarming))
    }

    @Test("a push to a bad token is given up only where a push was taken, or bad tokens have been few for a while")
    func givingUp() throws {
        let early = Self.start + .seconds(100)
        let late = Self.start + .seconds(1_001)
        #expect(!(try self.tally(bad: 1, taken: 0).mayGiveUp(at: early)))
        #expect(try self.tally(bad: 1, taken: 0).mayGiveUp(at: late))
        #expect(!(try self.tally(bad: 5, taken: 0).mayGiveUp(at: late)))
        #expect(try self.tally(bad: 5, taken: 1).mayGiveUp(at: early))
    }

    @Test("one token that is bad again and again is one")
    func once() throws {
        var tally = TokenTally(at: Self.start)
        let order = try OrderIdentifier("A-1")
        for _ in 0..<100 {
            tally.note(.badToken("BadDeviceToken"), token: SHA256.hash([1]), order: order, at: Self.start)
        }
        #expect(tally.badTokens == 1 && !tally.isAlarming)
    }

    @Test("all bad tokens of one order are one stranger's word, and are forgotten as soon as another's push is taken")
    func oneOrder() throws {
        var tally = TokenTally(at: Self.start)
        let order = try OrderIdentifier("A-1")
        for number in 0..<1_000 {
            let token = SHA256.hash(Array("\(number)".utf8))
            tally.note(.badToken("BadDeviceToken"), token: token, order: order, at: Self.start)
        }
        #expect(tally.badTokens == 1_000 && !tally.isAlarming && !tally.mayForget)
        tally.note(.sent, token: SHA256.hash([0]), order: nil, at: Self.start)
        #expect(tally.mayForget)
    }

    @Test("answers are left out after a while, not before a bad token's next try")
    func window() throws {
        var tally = try self.tally(bad: 10, taken: 0)
        tally.note(.sent, token: SHA256.hash([99]), order: nil, at: Self.start + .seconds(1_900))
        #expect(tally.isAlarming)
        tally.note(.sent, token: SHA256.hash([99]), order: nil, at: Self.start + .seconds(2_950))
        #expect(!tally.isAlarming && tally.mayForget)
        var quiet = try self.tally(bad: 10, taken: 0)
        quiet.note(.sent, token: SHA256.hash([99]), order: nil, at: Self.start + .seconds(5_000))
        #expect(quiet.badTokens == 0)
    }

    @Test("an alarm ends by itself when no push follows")
    func quiet() throws {
        var tally = try self.tally(bad: 10, taken: 0)
        tally.moveOn(to: Self.start + .seconds(1_001))
        #expect(tally.isAlarming)
        tally.moveOn(to: Self.start + .seconds(2_003))
        #expect(!tally.isAlarming && tally.badTokens == 0)
    }
}
