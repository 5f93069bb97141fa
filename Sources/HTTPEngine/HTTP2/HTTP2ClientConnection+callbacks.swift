// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2

/// What nghttp2 tells a client, and what of it matters.
extension HTTP2ClientConnection {
    static let template = unsafe NGHTTP2Template { callbacks in
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrameReceived)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClosed)
    } options: { _ in
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTP2ClientConnection? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<HTTP2ClientConnection>.fromOpaque(context).takeUnretainedValue()
    }

    private static func exchange(_ session: OpaquePointer?, _ stream: Int32) -> HTTP2Exchange? {
        guard let pointer = unsafe nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        return unsafe Unmanaged<HTTP2Exchange>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static let failed = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    private static let onHeader: nghttp2_on_header_callback = {
        session,
        frame,
        name,
        nameLength,
        value,
        valueLength,
        _,
        context in
        guard let connection = unsafe of(context), let frame = unsafe frame else { return failed }
        guard let exchange = unsafe exchange(session, frame.pointee.hd.stream_id) else { return 0 }
        exchange.headerBytes += nameLength + valueLength + 32
        guard exchange.headerBytes <= connection.limits.headerBytes else {
            exchange.failure = HTTPClientError(.tooLarge, "the answer's header is larger than allowed")
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        // Trailers are counted and dropped.
        guard !exchange.isHeadComplete else { return 0 }
        let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
        let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
        if unsafe name.first == UInt8(ascii: ":") {
            // The only pseudo header of an answer; nghttp2 has checked that it is three digits.
            exchange.status = unsafe value.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        } else {
            unsafe exchange.headers.appendTrusted(
                String(decoding: name, as: UTF8.self),
                String(decoding: value, as: UTF8.self)
            )
        }
        return 0
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { session, _, stream, bytes, length, context in
        guard let connection = unsafe of(context) else { return failed }
        guard let exchange = unsafe exchange(session, stream), exchange.failure == nil else { return 0 }
        guard exchange.body.count + length <= exchange.request.responseLimit else {
            exchange.failure = HTTPClientError(
                .tooLarge,
                "the answer has more than \(exchange.request.responseLimit) bytes"
            )
            exchange.body = []
            connection.session.reset(stream, .cancel)
            return 0
        }
        unsafe exchange.body.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
        return 0
    }

    private static let onFrameReceived: nghttp2_on_frame_recv_callback = { session, frame, context in
        guard let connection = unsafe of(context), let frame = unsafe frame else { return failed }
        let header = unsafe frame.pointee.hd
        switch header.type {
        case HTTP2FrameType.headers, HTTP2FrameType.data:
            guard let exchange = unsafe exchange(session, header.stream_id) else { return 0 }
            if header.type == HTTP2FrameType.headers, !exchange.isHeadComplete {
                if exchange.status < 200 {
                    // An answer before the answer.
                    exchange.headers = HTTPFields()
                } else {
                    exchange.isHeadComplete = true
                }
            }
            if header.flags & HTTP2FrameFlag.endStream != 0 { exchange.hasEnded = true }
        case HTTP2FrameType.settings where header.flags & HTTP2FrameFlag.acknowledgement == 0:
            connection.settingsReceived()
        case HTTP2FrameType.ping where header.flags & HTTP2FrameFlag.acknowledgement != 0:
            let bytes = unsafe frame.pointee.ping.opaque_data
            let number = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            connection.pingAnswered(number)
        case HTTP2FrameType.goAway:
            let goAway = unsafe frame.pointee.goaway
            let reason = unsafe Array(UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
            unsafe connection.goAwayReceived(HTTP2ErrorCode(rawValue: goAway.error_code), reason: reason)
        default: break
        }
        return 0
    }

    private static let onFrameSent: nghttp2_on_frame_send_callback = { session, frame, _ in
        guard let frame = unsafe frame else { return 0 }
        let header = unsafe frame.pointee.hd
        if header.type == HTTP2FrameType.headers {
            unsafe exchange(session, header.stream_id)?.wasSent = true
        }
        return 0
    }

    private static let onStreamClosed: nghttp2_on_stream_close_callback = { session, stream, code, context in
        guard let connection = unsafe of(context) else { return failed }
        if let exchange = unsafe exchange(session, stream) {
            unsafe nghttp2_session_set_stream_user_data(session, stream, nil)
            connection.streamClosed(exchange, HTTP2ErrorCode(rawValue: code))
        }
        return 0
    }

    /// Copies request bodies into frames: those of pushes are two bytes long.
    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        guard let buffer = unsafe buffer, let flags = unsafe flags, let pointer = unsafe source?.pointee.ptr else {
            return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        let exchange = unsafe Unmanaged<HTTP2Exchange>.fromOpaque(pointer).takeUnretainedValue()
        let count = min(length, exchange.request.body.count - exchange.bodyOffset)
        unsafe exchange.request.body.withUnsafeBufferPointer { body in
            if count > 0, let base = body.baseAddress {
                unsafe buffer.update(from: base + exchange.bodyOffset, count: count)
            }
        }
        exchange.bodyOffset += count
        if exchange.bodyOffset == exchange.request.body.count {
            unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        }
        return count
    }

    /// What a stream's end means for its request.
    func outcome(of exchange: HTTP2Exchange, _ code: HTTP2ErrorCode) -> HTTP2Exchange.Outcome {
        if let failure = exchange.failure { return .failure(failure) }
        if exchange.hasEnded, exchange.isHeadComplete, code == .noError {
            return .success(
                HTTPClientResponse(
                    HTTPStatus(exchange.status),
                    headers: exchange.headers,
                    body: exchange.body,
                    version: .http2
                )
            )
        }
        if code == .refusedStream || !exchange.wasSent {
            return .failure(
                HTTPClientError(
                    .notProcessed,
                    "\(peer) did not process the request",
                    http2ErrorCode: code,
                    goAwayReason: goAwayReason
                )
            )
        }
        return .failure(HTTPClientError(.reset, "\(peer) reset the stream: \(code)", http2ErrorCode: code))
    }
}
