// SPDX-License-Identifier: Apache-2.0

/// The error code of RST_STREAM and GOAWAY (RFC 9113 7).
package struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt32

    /// Any number: unknown ones are legal.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Not an error: a graceful end.
    package static let noError = Self(rawValue: 0)
    /// The peer broke a rule.
    package static let protocolError = Self(rawValue: 1)
    /// Our own fault.
    package static let internalError = Self(rawValue: 2)
    /// A window was overrun.
    package static let flowControlError = Self(rawValue: 3)
    /// Not processed at all: may be sent again.
    package static let refusedStream = Self(rawValue: 7)
    /// No longer wanted.
    package static let cancel = Self(rawValue: 8)
    /// The peer does what only an attack does.
    package static let enhanceYourCalm = Self(rawValue: 11)

    /// The RFC's name, or the number.
    package var description: String {
        switch rawValue {
        case 0: "NO_ERROR"
        case 1: "PROTOCOL_ERROR"
        case 2: "INTERNAL_ERROR"
        case 3: "FLOW_CONTROL_ERROR"
        case 4: "SETTINGS_TIMEOUT"
        case 5: "STREAM_CLOSED"
        case 6: "FRAME_SIZE_ERROR"
        case 7: "REFUSED_STREAM"
        case 8: "CANCEL"
        case 9: "COMPRESSION_ERROR"
        case 10: "CONNECT_ERROR"
        case 11: "ENHANCE_YOUR_CALM"
        case 12: "INADEQUATE_SECURITY"
        case 13: "HTTP_1_1_REQUIRED"
        default: "0x\(String(rawValue, radix: 16))"
        }
    }
}
