// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The numbers that a monitoring system reads, in Prometheus's text format 0.0.4.
///
/// Names follow its rules: base units, `_total` for counters, `_seconds` for durations. Labels are for few, known values
/// (a route, a status, an order type), never for identifiers of orders or devices.
package final class Metrics: Sendable {
    /// The process's own set.
    package static let shared = Metrics()

    private struct Series: Sendable {
        let labels: String
        let kind: Kind
    }
    private enum Kind: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)

        var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }
    private struct Family: Sendable {
        let help: String
        var series: [Series] = []
    }
    private let families = Locked<[String: Family]>([:])

    /// Makes an empty set.
    package init() {}

    /// The counter of a name and labels; the same one each time it is asked for.
    package func counter(_ name: String, help: String, labels: [(String, String)] = []) -> Counter {
        let kind = self.series(name, help, labels) { .counter(Counter()) }
        guard case .counter(let counter) = kind else { preconditionFailure("\(name) is not a counter") }
        return counter
    }

    /// The gauge of a name and labels.
    package func gauge(_ name: String, help: String, labels: [(String, String)] = []) -> Gauge {
        let kind = self.series(name, help, labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = kind else { preconditionFailure("\(name) is not a gauge") }
        return gauge
    }

    /// Replaces all gauges of a name at once, for numbers that are looked up when they are asked for: what is no more, or is
    /// not known now, is left out.
    package func replaceGauges(_ name: String, help: String, _ values: [(labels: [(String, String)], value: Double)]) {
        var family = Family(help: help)
        for (labels, value) in values {
            let gauge = Gauge()
            gauge.set(value)
            family.series.append(Series(labels: Self.text(labels), kind: .gauge(gauge)))
        }
        self.families.withLock { $0[name] = family }
    }

    /// The histogram of a name and labels, of durations in seconds.
    package func histogram(
        _ name: String,
        help: String,
        labels: [(String, String)] = [],
        bounds: [Double] = Histogram.webBounds
    ) -> Histogram {
        let kind = self.series(name, help, labels) { .histogram(Histogram(bounds: bounds)) }
        guard case .histogram(let histogram) = kind else { preconditionFailure("\(name) is not a histogram") }
        return histogram
    }

    private func series(
        _ name: String,
        _ help: String,
        _ labels: [(String, String)],
        _ make: () -> Kind
    ) -> Kind {
        let text = Self.text(labels)
        return self.families.withLock { families in
            if let known = families[name]?.series.first(where: { $0.labels == text }) { return known.kind }
            let kind = make()
            families[name, default: Family(help: help)].series.append(Series(labels: text, kind: kind))
            return kind
        }
    }

    /// Everything, as `/metrics` shows it.
    package func text() -> String {
        var text = ""
        for (name, family) in self.families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            guard let first = family.series.first else { continue }
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(first.kind.name)\n"
            for series in family.series {
                let labels = series.labels.isEmpty ? "" : "{\(series.labels)}"
                switch series.kind {
                case .counter(let counter): text += "\(name)\(labels) \(counter.value)\n"
                case .gauge(let gauge): text += "\(name)\(labels) \(Metrics.number(gauge.value))\n"
                case .histogram(let histogram):
                    let separator = series.labels.isEmpty ? "" : ","
                    var total = 0
                    for (bound, count) in zip(histogram.bounds, histogram.counts) {
                        total += count
                        text += "\(name)_bucket{\(series.labels)\(separator)le=\"\(Metrics.number(bound))\"} \(total)\n"
                    }
                    text += "\(name)_bucket{\(series.labels)\(separator)le=\"+Inf\"} \(histogram.count)\n"
                    text += "\(name)_sum\(labels) \(Metrics.number(histogram.sum))\n"
                    text += "\(name)_count\(labels) \(histogram.count)\n"
                }
            }
        }
        return text
    }

    private static func text(_ labels: [(String, String)]) -> String {
        labels.map { "\($0.0)=\"\(Metrics.escape($0.1))\"" }.joined(separator: ",")
    }

    private static func escape(_ text: String) -> String {
        String(text.flatMap { $0 == "\\" || $0 == "\"" ? "\\\($0)" : ($0 == "\n" ? "\\n" : String($0)) })
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

/// A number that only grows.
package final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    internal init() {}

    /// Adds to it.
    package func increment(by amount: Int = 1) { self.count.wrappingAdd(amount, ordering: .relaxed) }
    /// What it stands at.
    package var value: Int { self.count.load(ordering: .relaxed) }
}

/// A number that rises and falls.
package final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)
    internal init() {}

    /// Sets it.
    package func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }
    /// What it stands at.
    package var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }
}

/// How many observations fell below each of some bounds.
package final class Histogram: Sendable {
    /// Bounds that suit answers of a web service, in seconds.
    package static let webBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    internal let bounds: [Double]
    private let own: HistogramPart
    private let parts: Locked<[HistogramPart]>

    internal init(bounds: [Double]) {
        self.bounds = bounds
        self.own = HistogramPart(bounds: bounds)
        self.parts = Locked([self.own])
    }

    /// Counts one duration.
    package func observe(_ seconds: Double) { self.own.observe(seconds) }

    /// A new part of it, for one thread's observations: threads that count in the same place wait for each other, or for
    /// each other's caches. It is kept as long as the histogram.
    package func part() -> HistogramPart {
        let part = HistogramPart(bounds: self.bounds)
        self.parts.withLock { $0.append(part) }
        return part
    }

    internal var counts: [Int] {
        self.parts.withLock { $0 }.reduce(into: Array(repeating: 0, count: self.bounds.count)) { sums, part in
            for (index, count) in part.counts.enumerated() { sums[index] += count }
        }
    }
    internal var count: Int { self.parts.withLock { $0 }.reduce(0) { $0 + $1.count } }
    internal var sum: Double { self.parts.withLock { $0 }.reduce(0) { $0 + $1.sum } }
}

/// What one thread has observed of a histogram's durations. Any thread may use it; it is fast for one.
package final class HistogramPart: Sendable {
    private let bounds: [Double]
    private struct State: Sendable {
        var counts: [Int]
        var count = 0
        var sum = 0.0
    }
    private let state: Locked<State>

    internal init(bounds: [Double]) {
        self.bounds = bounds
        self.state = Locked(State(counts: Array(repeating: 0, count: bounds.count)))
    }

    /// Counts one duration.
    package func observe(_ seconds: Double) {
        let bounds = self.bounds
        self.state.withLock { state in
            if let index = bounds.firstIndex(where: { seconds <= $0 }) { state.counts[index] += 1 }
            state.count += 1
            state.sum += seconds
        }
    }

    internal var counts: [Int] { self.state.withLock { $0.counts } }
    internal var count: Int { self.state.withLock { $0.count } }
    internal var sum: Double { self.state.withLock { $0.sum } }
}
