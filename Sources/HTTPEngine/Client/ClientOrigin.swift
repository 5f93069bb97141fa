// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// What a client keeps of one server: its connections and who waits for one. Loop-confined.
final class ClientOrigin: @unchecked Sendable {
    // Sendable by rule: touched on the client's loop only.

    /// Servers are told apart by where they are and by what they are called.
    struct Key: Hashable, Sendable {
        let endpoint: Endpoint
        let isSecure: Bool
        let host: String
    }

    /// A connection that a request may use.
    enum Lease {
        case http1(HTTP1ClientConnection)
        case http2(HTTP2ClientConnection)
    }

    let key: Key
    /// The one HTTP/2 connection.
    var http2: HTTP2ClientConnection?
    /// HTTP/1.1 connections without a request, the last used one last.
    var idle: [HTTP1ClientConnection] = []
    /// HTTP/1.1 connections with a request.
    var busy: [ObjectIdentifier: HTTP1ClientConnection] = [:]
    /// Connections being made.
    var connecting = 0
    /// Whether the server turned out to speak HTTP/1.1 only: then connections are made side by side.
    var speaksHTTP1Only = false
    /// Requests that are at it now.
    var users = 0
    private(set) var waiters: [OneShot<Bool>] = []

    init(_ key: Key) { self.key = key }

    /// Whether there is nothing to remember of it.
    var isEmpty: Bool { users == 0 && connectionCount == 0 && http2 == nil }

    /// Open connections and those being made.
    var connectionCount: Int { idle.count + busy.count + connecting }

    /// Takes an idle connection that is still good.
    func takeIdle() -> HTTP1ClientConnection? {
        while let connection = idle.popLast() {
            connection.idleTimer?.cancel()
            connection.idleTimer = nil
            connection.onIdleEnd = nil
            guard connection.isReusable else { continue }
            busy[ObjectIdentifier(connection)] = connection
            return connection
        }
        return nil
    }

    /// Closes all idle connections: one was found dead, so the others probably are.
    func dropIdle() {
        let connections = idle
        idle = []
        for connection in connections {
            connection.onIdleEnd = nil
            connection.close()
        }
    }

    /// A request is done with its connection.
    func giveBack(_ connection: HTTP1ClientConnection, idleTimeout: Duration) {
        busy[ObjectIdentifier(connection)] = nil
        if connection.isReusable {
            idle.append(connection)
            connection.onIdleEnd = { [weak self, weak connection] in self?.idle.removeAll { $0 === connection } }
            connection.idleTimer = connection.loop.schedule(after: idleTimeout) { [weak connection] in
                connection?.close()
            }
        }
        wakeOne()
    }

    /// Waits until something changed that may let another request go on.
    ///
    /// - Returns: false when the deadline came first.
    func waitForChange(_ loop: EventLoop, deadline: MonotonicTime) async -> Bool {
        let waiter = OneShot<Bool>()
        waiters.append(waiter)
        let timer = loop.schedule(at: deadline) { waiter.finish(false) }
        let hasChanged = await waiter.value { waiter.finish(false) }
        if loop.isCurrent { timer.cancel() }
        waiters.removeAll { $0 === waiter }
        return hasChanged
    }

    /// Lets one waiter look again.
    func wakeOne() {
        while !waiters.isEmpty {
            if waiters.removeFirst().finish(true) { return }
        }
    }

    /// Lets all waiters look again.
    func wakeAll() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.finish(true) }
    }
}
