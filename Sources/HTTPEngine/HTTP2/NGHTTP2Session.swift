// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2

/// Callbacks and options of one kind of session. Made once; every session copies them.
@safe
final class NGHTTP2Template: @unchecked Sendable {
    // Sendable by rule: never changed after init.
    fileprivate let callbacks: OpaquePointer
    fileprivate let options: OpaquePointer

    /// - Parameters:
    ///   - callbacks: fills in the callbacks.
    ///   - options: sets what differs from the options that every session has.
    init(callbacks register: (OpaquePointer) -> Void, options configure: (OpaquePointer) -> Void) {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&options) == 0,
            let callbacks = unsafe callbacks, let options = unsafe options
        else { fatalError("out of memory") }
        unsafe self.callbacks = callbacks
        unsafe self.options = options
        unsafe register(callbacks)
        // The library's own guards against floods; ours (`HTTP2FloodGuard`) are tighter and strike first.
        unsafe nghttp2_option_set_max_outbound_ack(options, 1000)
        unsafe nghttp2_option_set_max_settings(options, 32)
        unsafe nghttp2_option_set_max_continuations(options, 8)
        // Closed streams are of no use without the priority tree.
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe configure(options)
    }

    deinit {
        unsafe nghttp2_session_callbacks_del(callbacks)
        unsafe nghttp2_option_del(options)
    }
}

/// An owned `nghttp2_session *`, deleted exactly once. Loop-confined.
///
/// nghttp2 calls back while it receives and while it produces. Inside a callback frames may be submitted; receiving,
/// producing and deleting have to wait.
@safe
final class NGHTTP2Session {
    /// The session, for the calls that the wrappers below do not cover.
    let pointer: OpaquePointer
    private(set) var isReceiving = false
    private(set) var isProducing = false

    init(server template: NGHTTP2Template) {
        var pointer: OpaquePointer?
        guard unsafe nghttp2_session_server_new2(&pointer, template.callbacks, nil, template.options) == 0,
            let pointer = unsafe pointer
        else { fatalError("out of memory") }
        unsafe self.pointer = pointer
    }

    init(client template: NGHTTP2Template) {
        var pointer: OpaquePointer?
        guard unsafe nghttp2_session_client_new2(&pointer, template.callbacks, nil, template.options) == 0,
            let pointer = unsafe pointer
        else { fatalError("out of memory") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe nghttp2_session_del(pointer)
    }

    /// Names the object that callbacks get back. It must own this session.
    func attach(_ owner: AnyObject) {
        unsafe nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// Whether a call from here into the library would come from inside one of its callbacks.
    var isInside: Bool { isReceiving || isProducing }

    /// Feeds received bytes.
    ///
    /// - Returns: 0, or nghttp2's error; then the session can only be deleted.
    func receive(_ bytes: RawSpan) -> Int32 {
        isReceiving = true
        defer { isReceiving = false }
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            let taken = unsafe nghttp2_session_mem_recv(
                pointer,
                base.assumingMemoryBound(to: UInt8.self),
                bytes.count
            )
            return taken < 0 ? Int32(truncatingIfNeeded: taken) : 0
        }
    }

    /// Writes frames to the transport until there is none left or the transport has enough.
    ///
    /// - Returns: 0, or nghttp2's error; then the session can only be deleted.
    func produce(into transport: SocketTransport) -> Int32 {
        isProducing = true
        defer { isProducing = false }
        while transport.isOpen, !transport.isAboveHighWater {
            var bytes: UnsafePointer<UInt8>?
            let length = unsafe nghttp2_session_mem_send(pointer, &bytes)
            guard length > 0 else { return Int32(truncatingIfNeeded: length) }
            unsafe transport.write(copying: UnsafeRawBufferPointer(start: bytes, count: length))
        }
        return 0
    }

    /// Whether the session has come to its end: nothing to be read or written any more.
    var isOver: Bool {
        unsafe nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    /// Sends SETTINGS.
    func submitSettings(_ settings: [(id: nghttp2_settings_id, value: Int)]) -> Int32 {
        let entries = settings.map {
            nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: UInt32(clamping: $0.value))
        }
        return unsafe nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Sends RST_STREAM.
    func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
        unsafe nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Sends PING with eight bytes of our own.
    func ping(_ number: UInt64) {
        var number = number.bigEndian
        unsafe withUnsafeBytes(of: &number) { bytes in
            _ = unsafe nghttp2_submit_ping(
                pointer,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
    }

    /// Sends GOAWAY.
    func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8] = []) {
        unsafe nghttp2_submit_goaway(
            pointer,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            lastStream,
            code.rawValue,
            debugData,
            debugData.count
        )
    }

    /// The highest stream of the peer's that was handed to callbacks.
    var lastProcessedStream: Int32 { unsafe nghttp2_session_get_last_proc_stream_id(pointer) }
}
