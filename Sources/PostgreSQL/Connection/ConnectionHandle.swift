// SPDX-License-Identifier: Apache-2.0
import CLibPQ
import Glibc

/// An owned `PGconn *`, finished exactly once. One loop's thread uses it, as libpq demands one thread at a time.
@safe
internal final class ConnectionHandle {
    /// What `PQconnectPoll` waits for.
    enum Progress { case reading, writing, connected, failed }

    /// How far the output buffer got.
    enum Flush { case done, pending, failed }

    private var pointer: OpaquePointer?
    private let notices: NoticeSink

    /// Starts to connect.
    ///
    /// - Throws: `PostgresError(.connection)` when libpq can't even begin.
    init(parameters: [(String, String)], notices: NoticeSink) throws(PostgresError) {
        self.notices = notices
        let keywords = unsafe ConnectionHandle.copies(of: parameters.map(\.0))
        let values = unsafe ConnectionHandle.copies(of: parameters.map(\.1))
        unsafe self.pointer = unsafe PQconnectStartParams(keywords, values, 0)
        unsafe (keywords + values).forEach { text in unsafe free(UnsafeMutablePointer(mutating: text)) }
        guard let pointer = unsafe self.pointer else {
            throw PostgresError(.connection, "no memory for a connection")
        }
        // The state of a refused connection is only to be had from the text, and there only in this verbosity.
        unsafe PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        let context = unsafe Unmanaged.passUnretained(notices).toOpaque()
        unsafe PQsetNoticeReceiver(pointer, NoticeSink.receiver, context)
        if unsafe PQstatus(pointer) == CONNECTION_BAD {
            let error = self.connectError
            self.finish()
            throw error
        }
    }

    deinit { unsafe PQfinish(self.pointer) }

    /// NUL-terminated copies and the null pointer that ends the list.
    private static func copies(of texts: [String]) -> [UnsafePointer<CChar>?] {
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        for text in texts { unsafe pointers.append(UnsafePointer(strdup(text))) }
        unsafe pointers.append(nil)
        return unsafe pointers
    }

    // MARK: Connecting

    /// The next step of connecting. Take the socket out of epoll before: libpq may close it and open another.
    func poll() -> Progress {
        switch unsafe PQconnectPoll(self.pointer) {
        case PGRES_POLLING_OK: .connected
        case PGRES_POLLING_READING: .reading
        case PGRES_POLLING_WRITING: .writing
        default: .failed
        }
    }

    var socket: Int32 { unsafe PQsocket(self.pointer) }

    /// Makes a fresh connection ready for use: non-blocking, in pipeline mode.
    func prepareForUse() -> Bool {
        unsafe PQsetnonblocking(self.pointer, 1) == 0 && PQenterPipelineMode(self.pointer) == 1
    }

    /// Closes the socket, after a farewell if that is possible.
    func finish() {
        unsafe PQfinish(self.pointer)
        unsafe self.pointer = nil
    }

    // MARK: State

    var isBroken: Bool { unsafe PQstatus(self.pointer) != CONNECTION_OK }
    var isBusy: Bool { unsafe PQisBusy(self.pointer) == 1 }
    var serverVersion: Int { unsafe Int(PQserverVersion(self.pointer)) }

    /// Whether no transaction is open, as the server's last answer said.
    var isOutsideTransaction: Bool { unsafe PQtransactionStatus(self.pointer) == PQTRANS_IDLE }

    /// libpq's own words, first line.
    var message: String {
        guard let text = unsafe PQerrorMessage(self.pointer) else { return "" }
        return unsafe String(String(cString: text).prefix { $0 != "\n" })
    }

    /// Why connecting failed.
    var connectError: PostgresError {
        guard let text = unsafe PQerrorMessage(self.pointer) else { return PostgresError(.connection, "no connection") }
        return unsafe ConnectFailure.error(from: String(cString: text))
    }

    // MARK: Sending

    func sendPrepare(_ statement: Statement) -> Bool {
        unsafe PQsendPrepare(self.pointer, statement.name, statement.sql, 0, nil) == 1
    }

    func sendDescribe(_ statement: Statement) -> Bool {
        unsafe PQsendDescribePrepared(self.pointer, statement.name) == 1
    }

    func sendExecute(_ statement: Statement, _ parameters: EncodedParameters) -> Bool {
        unsafe parameters.withPointers { values, lengths, formats in
            unsafe PQsendQueryPrepared(
                self.pointer,
                statement.name,
                Int32(parameters.count),
                values,
                lengths,
                formats,
                1
            ) == 1
        }
    }

    func sendSync() -> Bool { unsafe PQpipelineSync(self.pointer) == 1 }

    /// Sends several statements as one text, outside pipeline mode.
    func sendScript(_ sql: String) -> Bool { unsafe PQsendQuery(self.pointer, sql) == 1 }

    func setPipelineMode(_ on: Bool) -> Bool {
        if on { return unsafe PQenterPipelineMode(self.pointer) == 1 }
        return unsafe PQexitPipelineMode(self.pointer) == 1
    }

    func flush() -> Flush {
        switch unsafe PQflush(self.pointer) {
        case 0: .done
        case 1: .pending
        default: .failed
        }
    }

    // MARK: Receiving

    /// Reads what the socket has; false when the connection is gone.
    func consume() -> Bool { unsafe PQconsumeInput(self.pointer) == 1 }

    /// The next result, or the nil that ends a statement's results. Only to be called when not busy: it would block.
    func nextResult() -> QueryResult? {
        guard let result = unsafe PQgetResult(self.pointer) else { return nil }
        return unsafe QueryResult(takingOwnership: result)
    }

    /// The next notification: channel and payload.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = unsafe PQnotifies(self.pointer) else { return nil }
        defer { unsafe PQfreemem(notification) }
        return unsafe (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }

    /// The key that lets another thread ask the server to cancel what runs here.
    func cancelKey() -> CancelKey? {
        guard let key = unsafe PQgetCancel(self.pointer) else { return nil }
        return unsafe CancelKey(takingOwnership: key)
    }
}

/// An owned `PGcancel *`: the one thing of a connection that any thread may use.
@safe
internal final class CancelKey: @unchecked Sendable {
    // Sendable by rule: libpq documents PQcancel as safe from any thread, and the object never changes.
    private let pointer: OpaquePointer

    init(takingOwnership pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit { unsafe PQfreeCancel(self.pointer) }

    /// Asks the server. Blocks: it opens a connection of its own and waits until the server closes it.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(self.pointer, &message, Int32(message.count))
    }
}

/// Where a connection's notices and warnings go.
@safe
internal final class NoticeSink {
    /// Called on the connection's loop, from within libpq: must not call back into the connection.
    var handler: (ServerReport) -> Void = { _ in }

    static let receiver: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = { context, result in
        guard let context = unsafe context, let result = unsafe result else { return }
        let sink = unsafe Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue()
        if let report = unsafe QueryResult.report(of: result) { sink.handler(report) }
    }
}
