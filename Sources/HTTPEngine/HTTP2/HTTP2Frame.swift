// SPDX-License-Identifier: Apache-2.0

/// Frame types (RFC 9113 6).
enum HTTP2FrameType {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let resetStream: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
}

/// Frame flags (RFC 9113 6).
enum HTTP2FrameFlag {
    /// Of DATA and HEADERS.
    static let endStream: UInt8 = 1
    /// Of SETTINGS and PING.
    static let acknowledgement: UInt8 = 1
}

/// Frames that are written by hand because nghttp2's session can no longer be used.
enum HTTP2RawFrame {
    /// A GOAWAY with a word of explanation.
    static func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8] = []) -> [UInt8] {
        let length = UInt32(8 + debugData.count)
        var frame: [UInt8] = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), HTTP2FrameType.goAway, 0, 0, 0, 0, 0,
        ]
        for word in [UInt32(bitPattern: lastStream) & 0x7fff_ffff, code.rawValue] {
            for shift in [24, 16, 8, 0] as [UInt32] { frame.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return frame + debugData
    }

    /// The length of the frame that `bytes` begin with, its header included; nil while the header is not whole.
    static func length(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= headerBytes else { return nil }
        return headerBytes + (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2]))
    }

    /// What the whole frame that `bytes` begin with says, if it is a GOAWAY.
    static func parseGoAway(_ bytes: [UInt8]) -> (code: HTTP2ErrorCode, debugData: [UInt8])? {
        guard let end = length(bytes), end <= bytes.count, end >= headerBytes + 8, bytes[3] == HTTP2FrameType.goAway,
            bytes[5..<headerBytes].allSatisfy({ $0 == 0 })
        else { return nil }
        let code = bytes[(headerBytes + 4)..<(headerBytes + 8)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (HTTP2ErrorCode(rawValue: code), Array(bytes[(headerBytes + 8)..<end]))
    }

    /// Of a frame's header (RFC 9113 4.1).
    static let headerBytes = 9
    /// The largest payload before SETTINGS allow more (RFC 9113 4.2).
    static let payloadLimit = 16 * 1024
}
