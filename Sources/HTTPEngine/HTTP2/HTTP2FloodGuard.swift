// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Counts, on a server's connection, the frames that cost us something and bring no request and no answer forward.
///
/// nghttp2 bounds what it stores; this bounds what is done for nothing. Each limit is far above what browsers, phones and
/// proxies send, and far below what hurts: an honest client that cancels its whole page of 100 streams stays well under.
/// (CVE-2019-9511 to -9518, CVE-2023-44487, CVE-2024-27316, CVE-2025-8671.)
struct HTTP2FloodGuard {
    /// What is counted, and how often it may come within a second.
    enum Kind: Int, CaseIterable {
        /// PING that wants an answer.
        case ping
        /// SETTINGS that want an answer.
        case settings
        /// Streams that ended before their answer, whoever reset them.
        case reset
        /// RST_STREAM frames, also those for streams that are gone.
        case resetFrame
        /// DATA that no body got longer by: empty, all padding, too late.
        case data
        /// HEADERS that began no request and ended none: refused, or after a GOAWAY.
        case headers
        /// Continuations of header blocks.
        case continuation
        /// PRIORITY, GOAWAY, answers to a PING, and frames of unknown type, which do nothing here.
        case idle

        var perSecond: Int {
            switch self {
            case .ping: 50
            case .settings: 20
            case .reset, .resetFrame: 250
            // What is under way when a hundred uploads are refused at once.
            case .data: 1000
            case .headers: 250
            case .continuation: 100
            case .idle: 250
            }
        }
    }

    private var scanner = HTTP2FrameScanner()
    private var windowStart = MonotonicTime(nanoseconds: 0)
    private var counts: [8 of Int] = .init(repeating: 0)
    private var windowUpdates = 0
    private var windowUpdateAllowance = 1000

    /// Counts the frames that begin in bytes from the client, before they are acted on.
    ///
    /// - Returns: whether there were too many that cannot turn out to be of use.
    mutating func scan(_ bytes: RawSpan, _ now: MonotonicTime) -> Bool {
        // The scanner moves out and back: it may not be used while this whole is changed.
        var scanner = scanner
        defer { self.scanner = scanner }
        return scanner.scan(bytes) { type, flags in
            let isAnswer = flags & HTTP2FrameFlag.acknowledgement != 0
            switch type {
            case HTTP2FrameType.data:
                _ = count(.data, now)
                return false
            case HTTP2FrameType.headers:
                _ = count(.headers, now)
                return false
            case HTTP2FrameType.resetStream: return count(.resetFrame, now)
            // An answer to SETTINGS that weren't sent is an error, which nghttp2 sees.
            case HTTP2FrameType.settings: return isAnswer ? false : count(.settings, now)
            case HTTP2FrameType.ping: return count(isAnswer ? .idle : .ping, now)
            case HTTP2FrameType.windowUpdate:
                // They answer our DATA; more than a few for each frame sent do something else.
                windowUpdates += 1
                return windowUpdates > windowUpdateAllowance
            case HTTP2FrameType.continuation: return count(.continuation, now)
            default: return count(.idle, now)
            }
        }
    }

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

    /// A frame that was counted when it came has turned out to be of use.
    mutating func forgive(_ kind: Kind) {
        if counts[kind.rawValue] > 0 { counts[kind.rawValue] -= 1 }
    }

    /// Whether more of the frames that might have been of use weren't than is bearable: judged once they are acted on.
    var isExceeded: Bool {
        counts[Kind.data.rawValue] > Kind.data.perSecond || counts[Kind.headers.rawValue] > Kind.headers.perSecond
    }

    /// A request came in, or a DATA frame of so many bytes went out, which windows are opened for.
    ///
    /// A frame of next to nothing earns nothing: a client whose windows are a byte wide makes each byte cost two frames.
    mutating func allowWindowUpdates(for bytes: Int) {
        if bytes >= 64 { windowUpdateAllowance += 4 + bytes / 2048 }
    }
}
