// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ServiceRuntime

/// No connection and no stream lives for ever: each state has its time.
extension HTTP2ServerSession {
    func checkDeadlines(_ now: MonotonicTime) -> MonotonicTime {
        guard !isDead else { return .distantFuture }
        var next = MonotonicTime.distantFuture
        if let started = shutdownStartedAt, !hasSentFinalGoAway {
            if now >= started + .seconds(1) { sendFinalGoAway() } else { next = min(next, started + .seconds(1)) }
        }
        if streams.isEmpty {
            // Until the first request the header's time counts, as in HTTP/1.1.
            let deadline = idleSince + (hasHadRequest ? limits.idleTimeout : limits.headerTimeout)
            if now >= deadline {
                session.goAway(lastStream: session.lastProcessedStream, code: .noError)
                pump()
                isDead = true
                transport.close()
                return .distantFuture
            }
            next = min(next, deadline)
        }
        for stream in streams {
            let deadline = self.deadline(of: stream, now)
            if deadline > now {
                next = min(next, deadline)
            } else {
                overdue(stream)
                if isDead { return .distantFuture }
                next = min(next, now + .seconds(1))
            }
        }
        pump()
        // Not more than ten times a second, whatever the deadlines are.
        nextCheck = max(next, now + .milliseconds(100))
        return nextCheck
    }

    private func deadline(of stream: HTTP2ServerStream, _ now: MonotonicTime) -> MonotonicTime {
        switch stream.phase {
        case .head: return stream.startedAt + limits.headerTimeout
        case .body:
            let whole = stream.startedAt + limits.requestTimeout
            // A body that we don't let come is not slow.
            if stream.isHeldUp { return whole }
            // The moment at which the bytes so far are too few for the least rate.
            let earned = Duration.milliseconds(stream.body.count * 1000 / max(1, limits.minimumBodyRate))
            return min(whole, stream.bodyStartedAt + limits.bodyGrace + earned)
        case .deferred, .handling: return stream.startedAt + limits.requestTimeout
        case .lingering: return stream.answeredAt + limits.lingerTimeout
        case .answering:
            // Only a window that the peer keeps shut is its fault; waiting for other streams or the socket is not.
            let isShut =
                unsafe nghttp2_session_get_stream_remote_window_size(session.pointer, stream.number) <= 0
                || nghttp2_session_get_remote_window_size(session.pointer) <= 0
            guard isShut else { return now + limits.writeTimeout }
            let earned = Duration.milliseconds(stream.sent * 1000 / max(1, limits.minimumWriteRate))
            return min(
                max(stream.lastProgress, lastDataSent) + limits.writeTimeout,
                stream.answeredAt + limits.writeTimeout + earned
            )
        }
    }

    private func overdue(_ stream: HTTP2ServerStream) {
        switch stream.phase {
        case .head:
            // Nothing else can be read on the connection before the block's end.
            die(.enhanceYourCalm, "header block too slow")
        case .body where stream.isHeldUp:
            refuse(stream, .serviceUnavailable("The request took too long.", code: "request-timeout"))
        case .body:
            refuse(
                stream,
                Problem(.requestTimeout, code: "body-timeout", detail: "The body did not come in time.")
            )
        case .handling, .deferred:
            if stream.phase == .deferred { deferredStreams -= 1 }
            host?.abandon(stream: stream.number)
            refuse(stream, .serviceUnavailable("The request took too long.", code: "request-timeout"))
        case .answering: session.reset(stream.number, .cancel)
        // Asks the peer to stop sending; the answer stands (RFC 9113 8.1).
        case .lingering: session.reset(stream.number, .noError)
        }
    }

    /// The GOAWAY that counts: later streams are not processed.
    func sendFinalGoAway() {
        guard !hasSentFinalGoAway, !isDead else { return }
        hasSentFinalGoAway = true
        goAway(lastStream: session.lastProcessedStream, code: .noError)
        pump()
    }
}
