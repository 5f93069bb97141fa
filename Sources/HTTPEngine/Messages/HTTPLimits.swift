// SPDX-License-Identifier: Apache-2.0

/// Bounds of a server's listener. Every one closes a way to use the server up without doing work in return.
package struct HTTPLimits: Sendable, Equatable {
    /// Request line and header fields together, in bytes, line ends included; also the HTTP/2 header list. More is 431.
    package var headerBytes = 16 * 1024
    /// Header field lines. More is 431.
    package var headerFields = 100
    /// Trailer fields of a chunked body, in bytes; they are checked and dropped.
    package var trailerBytes = 4 * 1024
    /// Chunk extensions of a whole body, in bytes; they are dropped.
    package var chunkExtensionBytes = 4 * 1024

    /// From the accepted connection to the end of the TLS handshake.
    package var handshakeTimeout: Duration = .seconds(10)
    /// From a connection's start, or a later request's first byte, to the end of its header: whatever trickles in meanwhile.
    package var headerTimeout: Duration = .seconds(10)
    /// The least average rate of a request body, in bytes a second, judged after `bodyGrace`.
    package var minimumBodyRate = 1024
    /// How long a body may be slower than `minimumBodyRate`: for round trips at its start.
    package var bodyGrace: Duration = .seconds(5)
    /// A connection without a request.
    package var idleTimeout: Duration = .seconds(60)
    /// From a request's first byte to its answer: header, body and handler together. Then the handler is cancelled and the
    /// answer is 408 or 503.
    package var requestTimeout: Duration = .seconds(30)
    /// While a response waits for the peer, it has to take some of it in each period of this length.
    package var writeTimeout: Duration = .seconds(20)
    /// The least average rate at which the peer takes a response, in bytes a second, judged over each `writeTimeout`.
    ///
    /// With `requestTimeout` this bounds an exchange: 30 s, and for a response of n bytes two write timeouts and n / rate.
    package var minimumWriteRate = 1024
    /// How long the rest of a refused request is read and dropped, so that the peer sees the answer instead of a reset.
    package var lingerTimeout: Duration = .seconds(2)
    /// After the shutdown signal: how long a connection without a request is kept, for the request that its client may just
    /// be sending. It is answered, with `Connection: close`.
    package var drainIdleTimeout: Duration = .seconds(1)
    /// After the shutdown signal: how long requests in flight may take. Then their connections are closed.
    package var drainTimeout: Duration = .seconds(20)

    /// Open connections of the listener; further ones are closed at once, in clear text with a 503.
    package var connections = 10_000
    /// Open connections of one IPv4 address or IPv6 /64 (not of trusted proxies, nor on Unix sockets).
    package var connectionsPerAddress = 100
    /// Request bodies, from their first byte until their handlers are done with them, in bytes, over all connections of the
    /// listener. One more is 503. What a connection holds below 4 KiB is not counted.
    package var bodyBufferBytes = 256 * 1024 * 1024
    /// The same, over the connections of one address, counted as connections are.
    package var bodyBufferBytesPerAddress = 64 * 1024 * 1024
    /// Connections waiting for `accept` in the kernel.
    package var backlog: Int32 = 1024

    /// Concurrent streams of an HTTP/2 connection.
    package var streams = 100
    /// Request bodies of one HTTP/2 connection, in bytes, over all its streams, those included that handlers have. Above it
    /// one upload goes on at a time.
    package var streamBufferBytes = 8 * 1024 * 1024
    /// Response bytes waiting for one peer, over all its streams; no further request is started above it.
    package var responseQueueBytes = 16 * 1024 * 1024

    /// The default limits.
    package init() {}
}
