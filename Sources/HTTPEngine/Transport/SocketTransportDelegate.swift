// SPDX-License-Identifier: Apache-2.0

/// Who speaks a protocol over a transport. Every call is made on the transport's loop.
///
/// A delegate is confined to the loop like the transport itself, and `Sendable` only by that rule.
///
/// Each method may write to, pause, close or abort the transport. What it writes is sent once it returns.
package protocol SocketTransportDelegate: AnyObject, Sendable {
    /// Bytes can be exchanged: the TLS handshake is done. Without TLS it is called before `start` returns.
    func transportReady()
    /// Bytes came in. They are the transport's and may not be kept.
    func transportReceived(_ bytes: RawSpan)
    /// The peer will send no more; it may still read. Closes the transport unless the delegate has something to say.
    func transportReceivedEnd()
    /// The queue had been above high water and is below low water again: time to write more.
    func transportWritable()
    /// The last call, exactly one, never from inside a call of the delegate's own.
    func transportClosed(_ reason: TransportClosure)
}
