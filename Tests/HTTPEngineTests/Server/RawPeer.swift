// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

/// A blocking socket that sends what no client would. Used inside `runBlocking` only.
final class RawPeer: @unchecked Sendable {
    // Sendable by rule: used by one thread at a time.

    /// How a connection came to its end.
    enum End: Sendable { case closed, reset, stillOpen }

    /// An answer as it came.
    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: String
        func has(_ line: String) -> Bool { head.contains("\r\n" + line + "\r\n") }
    }

    let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Connects to a port of 127.0.0.1 from an address of this machine.
    init(_ port: Int, from source: UInt32 = 0x7f00_0001, receiveBuffer: Int32 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if receiveBuffer > 0 {
            var size = receiveBuffer
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        }
        var patience = timeval(tv_sec: Int(Patience.long.components.seconds), tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let code = unsafe Self.call(source, 0) { unsafe bind(self.descriptor, $0, $1) }
        try #require(code == 0)
        guard unsafe Self.call(0x7f00_0001, port, { unsafe Glibc.connect(self.descriptor, $0, $1) }) == 0 else {
            throw SystemError.last("connect")
        }
    }

    deinit { _ = Glibc.close(descriptor) }

    private static func call(
        _ host: UInt32,
        _ port: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        return unsafe withUnsafeBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    /// Sends all, or says that the peer takes no more.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends all, or says that the peer takes no more.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Ends our side only.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Goes away with a reset.
    func reset() {
        var none = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        // The descriptor stays ours until `deinit`: its connection goes by being connected to nothing.
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        unsafe Glibc.connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Reads at most so much; nil with the end.
    func read(_ limit: Int = 65_536) -> (bytes: [UInt8], end: End?) {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe Glibc.read(descriptor, &bytes, limit)
        if count > 0 { return (Array(bytes[..<count]), nil) }
        if count == 0 { return ([], .closed) }
        return ([], errno == EAGAIN ? .stillOpen : .reset)
    }

    /// Everything up to the end.
    func readToEnd() -> (text: String, end: End) {
        var all = buffer
        buffer = []
        while true {
            let (bytes, end) = read()
            all += bytes
            if let end { return (String(decoding: all, as: UTF8.self), end) }
        }
    }

    /// One answer with its body, whose length is announced.
    func answer(toHead: Bool = false) throws -> Answer {
        let headEnd = Array("\r\n\r\n".utf8)
        var split = Self.find(headEnd, buffer)
        while split == nil {
            let (bytes, end) = read()
            buffer += bytes
            if let end { throw Failure(description: "\(end) after \(String(decoding: buffer, as: UTF8.self))") }
            split = Self.find(headEnd, buffer)
        }
        let length = (split ?? 0) + 4
        let head = String(decoding: buffer[..<length], as: UTF8.self)
        buffer.removeFirst(length)
        let words = head.split(separator: " ")
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        var count = 0
        for line in head.split(separator: "\r\n") where line.hasPrefix("content-length: ") {
            count = Int(line.dropFirst(16)) ?? 0
        }
        if toHead || status < 200 || status == 304 { count = 0 }
        while buffer.count < count {
            let (bytes, end) = read()
            buffer += bytes
            if let end { throw Failure(description: "\(end) inside a body") }
        }
        let body = String(decoding: buffer[..<count], as: UTF8.self)
        buffer.removeFirst(count)
        return Answer(status: status, head: head, body: body)
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private static func find(_ needle: [UInt8], _ bytes: [UInt8]) -> Int? {
        guard bytes.count >= needle.count else { return nil }
        return (0...(bytes.count - needle.count)).first { bytes[$0..<($0 + needle.count)].elementsEqual(needle) }
    }
}
