// SPDX-License-Identifier: Apache-2.0
@testable import HTTPEngine

/// What a parser makes of bytes, body pieces joined so that the way they were split does not show.
struct RequestReading: Equatable {
    var events: [HTTP1RequestEvent] = []

    init(_ pieces: [[UInt8]], limits: HTTPLimits = .init(), bodyLimit: Int = 1 << 20) {
        var parser = HTTP1RequestParser(limits: limits, bodyLimit: bodyLimit)
        for piece in pieces {
            parser.feed(piece)
            while let event = parser.next() { take(event) }
        }
    }

    init(_ text: String, limits: HTTPLimits = .init(), bodyLimit: Int = 1 << 20) {
        self.init([Array(text.utf8)], limits: limits, bodyLimit: bodyLimit)
    }

    private mutating func take(_ event: HTTP1RequestEvent) {
        if case .body(let more) = event, case .body(let before)? = events.last {
            events[events.count - 1] = .body(before + more)
        } else {
            events.append(event)
        }
    }

    /// The requests in front, as "METHOD target body".
    var requests: [String] {
        var requests: [String] = []
        for event in events {
            switch event {
            case .head(let head): requests.append("\(head.method) \(head.target)")
            case .body(let body): requests[requests.count - 1] += " " + String(decoding: body, as: UTF8.self)
            case .end, .failed: break
            }
        }
        return requests
    }

    var heads: [HTTP1RequestHead] { events.compactMap { if case .head(let head) = $0 { head } else { nil } } }

    var fault: HTTP1Fault? { if case .failed(let fault)? = events.last { fault } else { nil } }

    var isComplete: Bool { events.last == .end }
}
