// SPDX-License-Identifier: Apache-2.0
import ExactJSON

/// How a message's end is found (RFC 9112 6.3).
package enum HTTP1Framing: Hashable, Sendable {
    /// There is no body.
    case none
    /// So many bytes.
    case length(Int)
    /// Chunks, the last of them empty.
    case chunked
    /// All until the connection ends: answers of HTTP/1.0 servers.
    case untilClose
}

/// The fields that decide where a message ends and whether another may follow, checked while the header is read.
///
/// Whatever two parsers might read differently is refused, even where RFC 9112 lets a recipient repair it: a repeated
/// Content-Length, a list in it, any transfer coding but a single `chunked`.
struct HTTP1ControlFields: Sendable {
    private(set) var contentLength: Int?
    private(set) var isChunked = false
    private(set) var host: String?
    private(set) var asksToClose = false
    private(set) var asksToKeepAlive = false
    private(set) var expectsContinue = false
    private var hasUnknownExpectation = false
    private var unknownCoding = false

    /// Notes a field.
    mutating func note(_ name: String, _ value: String) throws(HTTP1Fault) {
        // Most fields are told apart by their length alone.
        switch name.utf8.count {
        case 4 where name == "host":
            guard host == nil else { throw HTTP1Fault("There is more than one Host field.") }
            guard Self.isAuthority(value) else {
                throw HTTP1Fault("The Host field is not a host with an optional port.")
            }
            host = value
        case 6 where name == "expect":
            if value.isCaseless("100-continue") { expectsContinue = true } else { hasUnknownExpectation = true }
        case 10 where name == "connection":
            for option in value.utf8.split(separator: UInt8(ascii: ",")) {
                let option = String(decoding: option.filter { !HTTP1Bytes.isBlank($0) }, as: UTF8.self)
                if option.isCaseless("close") {
                    asksToClose = true
                } else if option.isCaseless("keep-alive") {
                    asksToKeepAlive = true
                }
            }
        case 14 where name == "content-length":
            guard contentLength == nil else { throw HTTP1Fault("There is more than one Content-Length field.") }
            contentLength = try Self.length(value)
        case 17 where name == "transfer-encoding":
            guard !isChunked, !unknownCoding else {
                throw HTTP1Fault("There is more than one Transfer-Encoding field.")
            }
            let value = value.lowercased()
            if value.isExactly("chunked") {
                isChunked = true
            } else if value.endsExactly(with: ", chunked"),
                !Substring(value.utf8.dropLast(9)).containsExactly("chunked")
            {
                unknownCoding = true
            } else {
                throw HTTP1Fault("Transfer-Encoding is not a single, final \"chunked\".")
            }
        default: break
        }
    }

    /// What a request's fields say.
    func requestFraming(_ version: HTTPVersion) throws(HTTP1Fault) -> HTTP1Framing {
        if hasUnknownExpectation, version != .http10 {
            throw HTTP1Fault(
                .expectationFailed,
                code: "expectation-failed",
                "The Expect field asks for something unknown."
            )
        }
        return try coded(version) ?? contentLength.map { $0 == 0 ? .none : .length($0) } ?? .none
    }

    /// What a response's fields say.
    func responseFraming(_ version: HTTPVersion, status: HTTPStatus, answersHead: Bool) throws(HTTP1Fault)
        -> HTTP1Framing
    {
        let coded = try coded(version)
        if answersHead || status.forbidsBody { return .none }
        return coded ?? contentLength.map { $0 == 0 ? .none : .length($0) } ?? .untilClose
    }

    private func coded(_ version: HTTPVersion) throws(HTTP1Fault) -> HTTP1Framing? {
        guard isChunked || unknownCoding else { return nil }
        guard version != .http10 else { throw HTTP1Fault("HTTP/1.0 has no Transfer-Encoding.") }
        guard contentLength == nil else { throw HTTP1Fault("Content-Length and Transfer-Encoding stand together.") }
        guard isChunked else {
            throw HTTP1Fault(
                .notImplemented,
                code: "unknown-transfer-coding",
                "Of the transfer codings only \"chunked\" is known."
            )
        }
        return .chunked
    }

    /// Whether another message may follow (RFC 9112 9.3).
    func keepsAlive(_ version: HTTPVersion) -> Bool {
        if asksToClose { return false }
        return version == .http10 ? asksToKeepAlive : true
    }

    /// One or more digits, nothing else. A number beyond all limits stays one instead of overflowing.
    private static func length(_ value: String) throws(HTTP1Fault) -> Int {
        var length = 0
        guard !value.isEmpty else { throw HTTP1Fault("Content-Length is empty.") }
        for byte in value.utf8 {
            guard HTTP1Bytes.isDigit(byte) else { throw HTTP1Fault("Content-Length is not a row of digits.") }
            let (tenfold, first) = length.multipliedReportingOverflow(by: 10)
            let (sum, second) = tenfold.addingReportingOverflow(Int(byte - 0x30))
            length = first || second || length == .max ? .max : sum
        }
        return length
    }

    /// A host name, IPv4 address or bracketed IPv6 address, with an optional port of 0 to 65535.
    static func isAuthority(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        var index = 0
        if !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") {
            guard bytes.count <= 64 else { return false }
            index = 1
            while index < bytes.count, bytes[index] != UInt8(ascii: "]") {
                let byte = bytes[index]
                guard HTTP1Bytes.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") else {
                    return false
                }
                index += 1
            }
            // "[", at least two characters, "]".
            guard index < bytes.count, index >= 3 else { return false }
            index += 1
        } else {
            while index < bytes.count, HTTP1Bytes.isHost(bytes[index]) { index += 1 }
            guard (1...255).contains(index) else { return false }
        }
        if index == bytes.count { return true }
        guard bytes[index] == UInt8(ascii: ":"), (1...5).contains(bytes.count - index - 1) else { return false }
        var port = 0
        for index in (index + 1)..<bytes.count {
            guard HTTP1Bytes.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - 0x30)
        }
        return port <= 65535
    }
}
