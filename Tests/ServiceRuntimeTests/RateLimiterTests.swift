// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ServiceRuntime

@Suite("Rate limiter")
struct RateLimiterTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private static func limiter(_ perMinute: Int, clients: Int = 1_000) -> RateLimiter {
        RateLimiter(TokenRate(perMinute: perMinute), clients: clients)
    }

    @Test("each client has its own; without a rate everything is let through and no memory is taken")
    func clients() {
        let limiter = Self.limiter(2)
        let (a, b) = (RateLimiter.Key("a"), RateLimiter.Key("b"))
        #expect(limiter.size == 0)
        #expect(limiter.take(1, of: a, at: Self.at(1)) == .allowed)
        #expect(limiter.size > 0)
        #expect(limiter.take(1, of: a, at: Self.at(1)) == .allowed)
        #expect(limiter.take(1, of: a, at: Self.at(1)) == .refused(wait: .seconds(30)))
        #expect(limiter.take(1, of: b, at: Self.at(1)) == .allowed)
        #expect(limiter.standing(of: a, at: Self.at(1))?.units == 0)
        #expect(limiter.standing(of: b, at: Self.at(1))?.units == 1)
        #expect(limiter.standing(of: RateLimiter.Key("c"), at: Self.at(1))?.units == 2)
        #expect(limiter.take(1, of: a, at: Self.at(31)) == .allowed)
        limiter.draw(2, of: b, at: Self.at(1))
        #expect(limiter.take(1, of: b, at: Self.at(1)) == .refused(wait: .seconds(60)))
        #expect(limiter.standing(of: b, at: Self.at(1))?.wait == .seconds(60))
        #expect(limiter.standing(of: b, at: Self.at(61))?.wait == .zero)

        let open = RateLimiter(nil, clients: 1_000)
        for _ in 0..<1_000 { #expect(open.take(1_000, of: a, at: Self.at(1)) == .allowed) }
        open.draw(1_000, of: a, at: Self.at(1))
        #expect(open.standing(of: a, at: Self.at(1)) == nil)
        #expect(open.size == 0)
    }

    @Test("a new rate is in force at once, and no rate ends the limit")
    func newRate() {
        let limiter = Self.limiter(1)
        let key = RateLimiter.Key("a")
        #expect(limiter.take(1, of: key, at: Self.at(1)) == .allowed)
        #expect(limiter.take(1, of: key, at: Self.at(1)) != .allowed)
        limiter.rate = TokenRate(perMinute: 60)
        #expect(limiter.take(1, of: key, at: Self.at(1)) == .refused(wait: .seconds(1)))
        #expect(limiter.take(1, of: key, at: Self.at(2)) == .allowed)
        limiter.rate = nil
        #expect(limiter.take(1, of: key, at: Self.at(2)) == .allowed)
    }

    @Test("keys are told apart by their bytes and by where one text ends")
    func keys() {
        typealias Key = RateLimiter.Key
        let keys = [
            Key(""), Key("a"), Key("b"), Key("ab"), Key("a", "b"), Key("", "ab"), Key("ab", "", ""), Key("a", "", "b"),
            Key("a", "b", "c"), Key("é"), Key("e\u{301}"),
        ]
        // Left out and empty are one.
        #expect(keys[3] == keys[6])
        #expect(Set(keys).count == keys.count - 1)
        #expect(Key("a", "b") == Key("a", "b"))
    }

    @Test("a key of a long run of accents costs no more than its bytes")
    func accents() {
        let marks = String(repeating: "\u{301}\u{323}", count: 50_000)
        let time = Patience.processorTime {
            let a = RateLimiter.Key("a" + marks, marks, marks)
            let b = RateLimiter.Key("b" + marks, marks, marks)
            #expect(a != b)
        }
        #expect(time < .seconds(1) * Patience.factor)
    }

    /// A table of one set: seven places and the shared one.
    private final class OneSet {
        private var table = BucketTable(sets: 1)
        private let rate: TokenRate

        init(_ rate: TokenRate) { self.rate = rate }

        func take(_ tag: UInt64, _ seconds: Int64) -> Bool {
            let time = RateLimiterTests.at(seconds)
            return self.table.withBucket(of: tag, at: time) { $0.take(1, at: time, self.rate) }
        }
    }

    @Test("owners keep their buckets in a full table; newcomers share one, until an owner's is full again")
    func fullTable() throws {
        let table = OneSet(try #require(TokenRate(perMinute: 2)))
        for owner: UInt64 in 1...7 {
            #expect(table.take(owner, 1))
            #expect(table.take(owner, 1))
        }
        // Newcomers of any number have one bucket together.
        #expect(table.take(100, 1))
        #expect(table.take(101, 1))
        for newcomer: UInt64 in 102...10_000 { #expect(!table.take(newcomer, 1)) }
        // And the owners were neither given anything nor pushed out.
        for owner: UInt64 in 1...7 { #expect(!table.take(owner, 1)) }
        // One of seven comes again and again, the others' places are free after a minute.
        #expect(table.take(1, 31))
        #expect(!table.take(1, 31))
        for newcomer: UInt64 in 200...205 {
            #expect(table.take(newcomer, 61))
            #expect(table.take(newcomer, 61))
            #expect(!table.take(newcomer, 61))
        }
        #expect(table.take(1, 61))
        #expect(!table.take(1, 61))
    }

    @Test("memory is fixed, whoever comes")
    func memory() {
        let limiter = Self.limiter(600, clients: 1_000)
        #expect(limiter.take(1, of: RateLimiter.Key("first"), at: Self.at(1)) == .allowed)
        let size = limiter.size
        #expect((16 * 1_000...37 * 1_000).contains(size))
        for number in 0..<100_000 { _ = limiter.take(1, of: RateLimiter.Key("invented \(number)"), at: Self.at(1)) }
        #expect(limiter.size == size)
    }

    @Test("a flood of invented names takes nothing from a client that has a bucket")
    func flood() {
        let limiter = Self.limiter(60, clients: 500)
        let honest = (0..<100).map { RateLimiter.Key("phone \($0)") }
        for key in honest { for _ in 0..<10 { #expect(limiter.take(1, of: key, at: Self.at(1)) == .allowed) } }
        let before = honest.map { limiter.standing(of: $0, at: Self.at(1))?.units }
        for number in 0..<50_000 { _ = limiter.take(1, of: RateLimiter.Key("invented \(number)"), at: Self.at(1)) }
        let after = honest.map { limiter.standing(of: $0, at: Self.at(1))?.units }
        // Few of a hundred had to share from the start, in sets where seven others were first; the flood drains their share.
        let changed = zip(before, after).count { $0 != $1 }
        #expect(changed <= 5)
        #expect(after.count { $0 == 50 } >= 95)
    }

    @Test("several threads draw no more than there is")
    func threads() async {
        let limiter = Self.limiter(1_000)
        let key = RateLimiter.Key("one")
        let allowed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).count { _ in limiter.take(1, of: key, at: Self.at(1)) == .allowed }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(allowed == 1_000)
    }
}
