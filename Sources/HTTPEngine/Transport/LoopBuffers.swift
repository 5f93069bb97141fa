// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// The working memory that all transports of one loop share, so that an idle connection costs no buffer.
///
/// Each use ends before the loop goes on to the next connection.
@safe
final class LoopBuffers: @unchecked Sendable {
    // Sendable by rule: the memory is touched on the loop that the object was made for only.

    /// Where bytes are read into.
    let input: UnsafeMutableRawBufferPointer
    /// Where small pieces are put together to one TLS record.
    let record: UnsafeMutableRawBufferPointer

    /// Where header blocks are put together.
    var headerBlock = HeaderBlock()
    private var dateSecond: Int64 = -1
    private var date = ""

    /// The `Date` field's value, made once a second.
    var httpDate: String {
        let now = WallTime.now()
        if now.seconds != dateSecond {
            dateSecond = now.seconds
            date = now.httpDate
        }
        return date
    }

    private init() {
        unsafe input = .allocate(byteCount: 64 * 1024, alignment: 16)
        unsafe record = .allocate(byteCount: 16 * 1024, alignment: 16)
    }

    deinit {
        unsafe input.deallocate()
        unsafe record.deallocate()
    }

    /// The buffers of a loop; they live as long as it does.
    ///
    /// No weak reference leads to them: an object that has ever had one pays for it whenever its references are counted.
    static func of(_ loop: EventLoop) -> LoopBuffers { loop.companion { LoopBuffers() } }
}
