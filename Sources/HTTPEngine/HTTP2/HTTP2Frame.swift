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
}
