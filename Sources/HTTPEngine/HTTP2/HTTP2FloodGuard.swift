// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Counts, on a server's connection, the frames that cost us something and the peer nothing.
///
/// nghttp2 bounds what it stores; this bounds what is done for nothing. Each limit is far above what browsers, phones and
/// proxies send, and far below what hurts: an honest client that cancels its whole page of 100 streams stays well under.
/// (CVE-2019-9512, -9514, -9515, -9518, CVE-2023-44487, CVE-2024-27316, CVE-2025-8671.)
struct HTTP2FloodGuard {
    /// What is counted, and how often it may come within a second.
    enum Kind: Int, CaseIterable {
        /// PING that wants an answer.
        case ping
        /// SETTINGS that want an answer.
        case settings
        /// Streams that ended before their answer, whoever reset them.
        case reset
        /// DATA without a byte that does not end its stream.
        case emptyData
        /// Continuations of header blocks.
        case continuation
        /// PRIORITY and frames of unknown type, which do nothing here.
        case idle

        var perSecond: Int {
            switch self {
            case .ping: 50
            case .settings: 20
            case .reset: 250
            case .emptyData: 50
            case .continuation: 100
            case .idle: 250
            }
        }
    }

    private var windowStart = MonotonicTime(nanoseconds: 0)
    private var counts: [6 of Int] = .init(repeating: 0)
    private var windowUpdates = 0
    private var windowUpdateAllowance = 1000

    /// Counts one.
    ///
    /// - Returns: whether that is too much.
    mutating func count(_ kind: Kind, _ now: MonotonicTime) -> Bool {
        if now.nanoseconds &- windowStart.nanoseconds >= 1_000_000_000 {
            windowStart = now
            counts = .init(repeating: 0)
        }
        counts[kind.rawValue] += 1
        return counts[kind.rawValue] > kind.perSecond
    }

    /// Counts a frame by its header.
    mutating func count(type: UInt8, flags: UInt8, length: Int, _ now: MonotonicTime) -> Bool {
        switch type {
        case HTTP2FrameType.data:
            length == 0 && flags & HTTP2FrameFlag.endStream == 0 ? count(.emptyData, now) : false
        case HTTP2FrameType.headers, HTTP2FrameType.goAway: false
        // Counted when a stream ends, so that resets of ours that the peer provoked count too.
        case HTTP2FrameType.resetStream: false
        case HTTP2FrameType.settings:
            flags & HTTP2FrameFlag.acknowledgement == 0 ? count(.settings, now) : false
        case HTTP2FrameType.ping: flags & HTTP2FrameFlag.acknowledgement == 0 ? count(.ping, now) : count(.idle, now)
        case HTTP2FrameType.windowUpdate: countWindowUpdate()
        case HTTP2FrameType.continuation: count(.continuation, now)
        default: count(.idle, now)
        }
    }

    /// Window updates answer our DATA; more than a few for each frame sent do something else.
    private mutating func countWindowUpdate() -> Bool {
        windowUpdates += 1
        return windowUpdates > windowUpdateAllowance
    }

    /// A DATA frame went out, or a request came in.
    mutating func allowWindowUpdates() { windowUpdateAllowance += 4 }
}
