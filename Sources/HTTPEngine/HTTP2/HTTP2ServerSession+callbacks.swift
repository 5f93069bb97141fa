// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ServiceRuntime

/// What nghttp2 tells, and what of it matters.
extension HTTP2ServerSession {
    static let template = unsafe NGHTTP2Template { callbacks in
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrameReceived)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClosed)
        unsafe nghttp2_session_callbacks_set_send_data_callback(callbacks, sendBody)
    } options: { options in
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_stream_reset_rate_limit(options, 2000, 500)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTP2ServerSession? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<HTTP2ServerSession>.fromOpaque(context).takeUnretainedValue()
    }

    private static let failed = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    private static let onBeginHeaders: nghttp2_on_begin_headers_callback = { pointer, frame, context in
        guard let session = unsafe of(context), let frame = unsafe frame else { return failed }
        guard unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        let number = unsafe frame.pointee.hd.stream_id
        let stream = session.add(number)
        unsafe nghttp2_session_set_stream_user_data(pointer, number, Unmanaged.passUnretained(stream).toOpaque())
        return 0
    }

    private static let onHeader: nghttp2_on_header_callback = {
        _,
        frame,
        name,
        nameLength,
        value,
        valueLength,
        _,
        context in
        guard let session = unsafe of(context), let frame = unsafe frame else { return failed }
        guard let stream = unsafe session.stream(frame.pointee.hd.stream_id) else { return 0 }
        // Trailers come when the phase is no longer `head`: checked by nghttp2, counted, dropped.
        unsafe session.take(
            UnsafeBufferPointer(start: name, count: nameLength),
            UnsafeBufferPointer(start: value, count: valueLength),
            for: stream
        )
        // A block that goes on and on is unpacked for nothing.
        if stream.headerBytes > 8 * session.limits.headerBytes {
            session.verdict = (.enhanceYourCalm, "header list too large")
            return failed
        }
        return 0
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { _, _, number, bytes, length, context in
        guard let session = unsafe of(context) else { return failed }
        guard let stream = session.stream(number) else { return 0 }
        unsafe session.bodyReceived(UnsafeBufferPointer(start: bytes, count: length), on: stream)
        return 0
    }

    private static let onFrameReceived: nghttp2_on_frame_recv_callback = { _, frame, context in
        guard let session = unsafe of(context), let frame = unsafe frame else { return failed }
        let header = unsafe frame.pointee.hd
        switch header.type {
        case HTTP2FrameType.headers, HTTP2FrameType.data:
            guard let stream = session.stream(header.stream_id) else { return 0 }
            let isLast = header.flags & HTTP2FrameFlag.endStream != 0
            if header.type == HTTP2FrameType.headers, stream.phase == .head {
                session.headCompleted(stream, isLast: isLast)
            } else if isLast {
                // The end of a request is of use, without a byte too.
                session.flood.forgive(header.type == HTTP2FrameType.data ? .data : .headers)
                session.requestCompleted(stream)
            }
        case HTTP2FrameType.ping where header.flags & HTTP2FrameFlag.acknowledgement != 0:
            if session.shutdownStartedAt != nil { session.sendFinalGoAway() }
        default: break
        }
        return 0
    }

    private static let onFrameSent: nghttp2_on_frame_send_callback = { _, frame, context in
        guard let session = unsafe of(context), let frame = unsafe frame else { return failed }
        let header = unsafe frame.pointee.hd
        guard header.type <= HTTP2FrameType.headers, header.flags & HTTP2FrameFlag.endStream != 0,
            let stream = session.stream(header.stream_id), stream.phase == .answering, !stream.hasEnded
        else { return 0 }
        stream.phase = .lingering
        stream.answeredAt = session.loop.now
        session.expectDeadline(session.loop.now + session.limits.lingerTimeout)
        return 0
    }

    private static let onStreamClosed: nghttp2_on_stream_close_callback = { _, number, code, context in
        guard let session = unsafe of(context) else { return failed }
        guard let stream = session.stream(number) else { return 0 }
        let wasHandling = stream.phase == .handling
        session.remove(stream)
        if wasHandling { session.host?.abandon(stream: number) }
        session.releaseWindows()
        session.startDeferred()
        // NO_ERROR also ends streams whose upload was cut short by us; that is our doing.
        if code != 0, session.flood.count(.reset, session.loop.now) {
            session.verdict = (.enhanceYourCalm, "too many streams that end before their answer")
            return failed
        }
        return 0
    }

    /// Says how many bytes of the body go into the next DATA frame.
    static let readBody: nghttp2_data_source_read_callback = { _, _, _, length, flags, source, _ in
        guard let flags = unsafe flags, let pointer = unsafe source?.pointee.ptr else {
            return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        let stream = unsafe Unmanaged<HTTP2ServerStream>.fromOpaque(pointer).takeUnretainedValue()
        let count = min(length, stream.remaining)
        unsafe flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
        if count == stream.remaining { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }

    /// Writes one DATA frame: the header that nghttp2 made and the body's bytes by reference.
    private static let sendBody: nghttp2_send_data_callback = { _, _, header, length, source, context in
        guard let session = unsafe of(context), let header = unsafe header,
            let pointer = unsafe source?.pointee.ptr
        else { return failed }
        let stream = unsafe Unmanaged<HTTP2ServerStream>.fromOpaque(pointer).takeUnretainedValue()
        unsafe session.transport.write(copying: UnsafeRawBufferPointer(start: header, count: 9))
        stream.sendBody(length, to: session.transport)
        session.pendingBytes -= length
        stream.lastProgress = session.loop.now
        session.lastDataSent = session.loop.now
        session.flood.allowWindowUpdates(for: length)
        return 0
    }
}
