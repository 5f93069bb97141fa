// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@Suite("Token bucket")
struct TokenBucketTests {
    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private static func rate(_ perMinute: Int) throws -> TokenRate { try #require(TokenRate(perMinute: perMinute)) }

    @Test("holds a minute's worth at first, then gives out as much as comes back")
    func burstAndRefill() throws {
        let bucket = try Cup(60)
        let start = Self.at(1_000)
        #expect(bucket.isFull(at: start))
        #expect(bucket.available(at: start) == 60)
        for left in (0..<60).reversed() {
            #expect(bucket.take(1, at: start))
            #expect(bucket.available(at: start) == left)
        }
        #expect(!bucket.isFull(at: start))
        #expect(!bucket.take(1, at: start))
        #expect(bucket.wait(at: start) == .seconds(1))
        #expect(!bucket.take(1, at: Self.at(1_000.999)))
        #expect(bucket.wait(at: Self.at(1_000.25)) == .milliseconds(750))
        #expect(bucket.take(1, at: Self.at(1_001)))
        #expect(!bucket.take(1, at: Self.at(1_001)))
        // Ten seconds later there are ten, however long ago it was full, and never more than the minute's worth.
        #expect(bucket.available(at: Self.at(1_011)) == 10)
        #expect(bucket.available(at: Self.at(1_060.5)) == 59)
        #expect(bucket.available(at: Self.at(9_999)) == 60)
        #expect(bucket.isFull(at: Self.at(1_061)))
    }

    @Test("a refused request draws nothing, and asking with cost 0 neither")
    func refusedIsFree() throws {
        let bucket = try Cup(2)
        let now = Self.at(5)
        #expect(bucket.take(0, at: now))
        #expect(bucket.bucket == TokenBucket())
        #expect(bucket.take(2, at: now))
        let empty = bucket.bucket
        for cost in [0, 1, 1_000] { #expect(!bucket.take(cost, at: now)) }
        #expect(bucket.bucket == empty)
        #expect(bucket.wait(at: now) == .seconds(30))
    }

    @Test("who has a unit is let through whatever it costs; what is owed is bounded, and paid back by waiting")
    func overdraft() throws {
        let now = Self.at(5)
        let bucket = try Cup(60)
        #expect(bucket.take(10, at: now))
        #expect(bucket.take(70, at: now))
        #expect(bucket.available(at: now) == 0)
        #expect(bucket.wait(at: now) == .seconds(21))
        #expect(!bucket.take(1, at: Self.at(25.9)))
        #expect(bucket.take(1, at: Self.at(26)))
        for cost in [1_000, Int.max, 7] {
            bucket.draw(cost, at: Self.at(26))
            // A bucketful is owed at most: a minute, and one unit's time.
            #expect(bucket.wait(at: Self.at(26)) <= .seconds(61))
        }
        #expect(bucket.wait(at: Self.at(26)) == .seconds(61))
        bucket.draw(-5, at: Self.at(26))
        #expect(bucket.wait(at: Self.at(26)) == .seconds(61))
    }

    @Test("one request a minute is one request a minute")
    func slowest() throws {
        let bucket = try Cup(1)
        #expect(bucket.take(1, at: Self.at(1)))
        #expect(!bucket.take(1, at: Self.at(60.9)))
        #expect(bucket.take(1, at: Self.at(61)))
    }

    @Test("rates are whole numbers above 0, with a bound where nanoseconds would round", arguments: [0, -1, .min])
    func noRate(perMinute: Int) throws {
        #expect(TokenRate(perMinute: perMinute) == nil)
        #expect(try Self.rate(.max).perMinute == TokenRate.most)
        // What rounding leaves is the client's.
        for perMinute in [1, 7, 59, 60, 61, 1_000_003, 44_999_999, TokenRate.most] {
            let bucket = try Cup(perMinute)
            let rate = bucket.rate
            #expect(rate.duration(of: perMinute) <= .seconds(60))
            #expect(rate.duration(of: perMinute) > .seconds(58))
            #expect(rate.duration(of: .max) == rate.duration(of: perMinute))
            #expect(rate.duration(of: -1) == .zero)
            bucket.draw(.max, at: Self.at(1))
            #expect(bucket.wait(at: Self.at(1)) <= .seconds(121))
        }
    }

    @Test("a clock that stands, goes back or jumps gives nothing away and locks nobody out for long")
    func clocks() throws {
        let bucket = try Cup(60)
        #expect(bucket.take(60, at: Self.at(1_000_000)))
        #expect(!bucket.take(1, at: Self.at(1_000_000)))
        // Back by days: it is no fuller, and owes no more than a bucket can.
        #expect(!bucket.take(1, at: Self.at(1)))
        #expect(bucket.wait(at: Self.at(1)) <= .seconds(61))
        #expect(bucket.take(1, at: MonotonicTime(nanoseconds: .max)))
        #expect(bucket.wait(at: MonotonicTime(nanoseconds: .min)) <= .seconds(61))
        let other = try Cup(60)
        #expect(other.take(1, at: MonotonicTime(nanoseconds: .min)))
        #expect(other.available(at: MonotonicTime(nanoseconds: .min)) == 59)
    }

    /// A bucket that an expectation may draw from.
    private final class Cup {
        var bucket = TokenBucket()
        let rate: TokenRate

        init(_ perMinute: Int) throws { self.rate = try TokenBucketTests.rate(perMinute) }

        func take(_ cost: Int, at time: MonotonicTime) -> Bool { self.bucket.take(cost, at: time, self.rate) }
        func draw(_ cost: Int, at time: MonotonicTime) { self.bucket.draw(cost, at: time, self.rate) }
        func wait(at time: MonotonicTime) -> Duration { self.bucket.wait(at: time, self.rate) }
        func available(at time: MonotonicTime) -> Int { self.bucket.available(at: time, self.rate) }
        func isFull(at time: MonotonicTime) -> Bool { self.bucket.isFull(at: time) }
    }

    @Test("agrees with counting units up, and never lets more through than the rate allows", arguments: 1...40)
    func property(seed: Int) throws {
        var numbers = SeededGenerator(seed: UInt64(seed))
        let perMinute = numbers.one(of: [1, 2, 7, 60, 600, 120_000])
        let bucket = try Cup(perMinute)
        let unit = 60_000_000_000 / Int64(perMinute)
        let full = unit * Int64(perMinute)
        // The same told forwards: nanoseconds' worth of units that are there.
        var credit = full
        var now: Int64 = 1_000
        var passed: [(time: Int64, cost: Int)] = []
        for _ in 0..<2_000 {
            let step = Int64.random(in: 0..<4, using: &numbers) * unit / Int64.random(in: 1...5, using: &numbers)
            now += step
            credit = min(full, credit + step)
            let time = MonotonicTime(nanoseconds: now)
            let cost = numbers.one(of: [0, 1, 1, 1, 5, perMinute, 1_000])
            #expect(bucket.available(at: time) == Int(max(0, credit) / unit))
            #expect(bucket.isFull(at: time) == (credit == full))
            #expect(bucket.wait(at: time) == .nanoseconds(max(0, unit - credit)))
            let isAllowed = credit >= unit
            #expect(bucket.take(cost, at: time) == isAllowed)
            guard isAllowed else { continue }
            credit = max(-full, credit - Int64(cost) * unit)
            passed.append((now, cost))
        }
        // Over any span: what it held, what came back, and what may be owed at the end. (Of a request that costs more than a
        // bucketful, the rest may be let off.)
        for first in stride(from: 0, to: passed.count, by: 37) {
            var sum = 0
            for (time, cost) in passed[first...] {
                sum += min(cost, perMinute)
                #expect(sum <= 2 * perMinute + Int((time - passed[first].time) / unit) + 1)
            }
        }
    }
}
