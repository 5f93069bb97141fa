// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Bytes that wait for a socket, in order: large pieces by reference, small ones gathered in one buffer.
///
/// A response body is queued without being copied; frame headers and header blocks, a few bytes each, share the gathering
/// buffer, so that a queue in steady state allocates nothing.
struct OutputQueue {
    /// A range of an array of its own, or of the gathering buffer when there is none.
    private struct Piece {
        var bytes: [UInt8]?
        var start: Int
        var end: Int
    }

    /// Pieces shorter than this are copied: a reference costs more than so many bytes.
    static let copyLimit = 1024
    /// The most pieces that one `writev` takes.
    private static let vectorLimit = 16
    /// What the gathering buffer keeps when it runs empty. An idle connection should hold next to nothing.
    private static let keptCapacity = 4096

    private var pieces: [Piece] = []
    private var head = 0
    /// Gathered bytes. Offsets in pieces count from the queue's last time empty; `dropped` were cut off since.
    private var gathered: [UInt8] = []
    private var dropped = 0

    /// How many bytes wait.
    private(set) var count = 0
    /// Whether none waits.
    var isEmpty: Bool { count == 0 }

    /// Adds a range of an array, by reference when it is long.
    mutating func append(_ bytes: [UInt8], from start: Int, to end: Int) {
        guard end > start else { return }
        guard end - start >= Self.copyLimit else {
            gathered.append(contentsOf: bytes[start..<end])
            extendGathered(by: end - start)
            return
        }
        pieces.append(Piece(bytes: bytes, start: start, end: end))
        count += end - start
    }

    /// Adds a copy of bytes that the caller only borrows.
    mutating func append(copying bytes: UnsafeRawBufferPointer) {
        let length = bytes.count
        guard length > 0 else { return }
        unsafe gathered.append(contentsOf: bytes)
        extendGathered(by: length)
    }

    /// Lets `write` add to the gathering buffer itself.
    mutating func gather(_ write: (inout [UInt8]) -> Void) {
        let before = gathered.count
        write(&gathered)
        let length = gathered.count - before
        if length > 0 { extendGathered(by: length) }
    }

    private mutating func extendGathered(by length: Int) {
        count += length
        let end = dropped + gathered.count
        if pieces.count > head, pieces[pieces.count - 1].bytes == nil {
            pieces[pieces.count - 1].end = end
        } else {
            pieces.append(Piece(bytes: nil, start: end - length, end: end))
        }
    }

    /// Forgets everything.
    mutating func removeAll() {
        pieces = []
        head = 0
        gathered = []
        dropped = 0
        count = 0
    }

    /// Takes off bytes that were written.
    mutating func consume(_ length: Int) {
        count -= length
        guard count > 0 else {
            pieces.removeAll(keepingCapacity: pieces.capacity <= 64)
            head = 0
            gathered.removeAll(keepingCapacity: gathered.capacity <= Self.keptCapacity)
            dropped = 0
            return
        }
        var left = length
        var gatheredEnd = 0
        while left > 0 {
            let available = pieces[head].end - pieces[head].start
            let taken = min(left, available)
            left -= taken
            pieces[head].start += taken
            if pieces[head].bytes == nil { gatheredEnd = pieces[head].start }
            if taken == available {
                pieces[head].bytes = nil
                head += 1
            }
        }
        if head >= 64, head * 2 >= pieces.count {
            pieces.removeFirst(head)
            head = 0
        }
        // A connection that is never quite caught up must not keep all it ever gathered.
        let dead = gatheredEnd - dropped
        if dead >= 32 * 1024, dead * 2 >= gathered.count {
            gathered.removeFirst(dead)
            dropped += dead
        }
    }

    // MARK: Writing

    /// Hands the first bytes to `writev` and takes off what it accepted.
    ///
    /// - Returns: the number of bytes accepted, or the negated `errno`.
    mutating func write(to descriptor: Int32) -> Int {
        let written = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.vectorLimit) { vectors in
            unsafe withVectors(from: head, filled: 0, vectors) { filled in
                unsafe writev(descriptor, vectors.baseAddress, Int32(filled))
            }
        }
        guard written >= 0 else { return -Int(errno) }
        consume(written)
        return written
    }

    /// Pins one array after the other, then calls `body` while all are pinned.
    private func withVectors(
        from index: Int,
        filled: Int,
        _ vectors: UnsafeMutableBufferPointer<iovec>,
        _ body: (Int) -> Int
    ) -> Int {
        guard index < pieces.count, filled < Self.vectorLimit else { return body(filled) }
        let start = pieces[index].start
        let length = pieces[index].end - start
        func pinned(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
            unsafe vectors[filled] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress.map { unsafe $0 + offset }),
                iov_len: length
            )
            return unsafe withVectors(from: index + 1, filled: filled + 1, vectors, body)
        }
        guard let own = pieces[index].bytes else {
            return unsafe gathered.withUnsafeBytes { unsafe pinned($0, start - dropped) }
        }
        return unsafe own.withUnsafeBytes { unsafe pinned($0, start) }
    }

    /// Calls `body` with the first bytes, at most `limit`: in place when they lie together, else copied into `scratch`.
    ///
    /// Called again with nothing consumed meanwhile, it presents the same bytes, as a TLS write that has to be repeated needs.
    func withPrefix<Result, Failure: Error>(
        limit: Int,
        scratch: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) -> Swift.Result<Result, Failure>
    ) throws(Failure) -> Result {
        let first = pieces[head]
        let wanted = min(limit, count, scratch.count)
        if first.end - first.start >= wanted {
            let offset = first.bytes == nil ? first.start - dropped : first.start
            return try unsafe (first.bytes ?? gathered).withUnsafeBytes { bytes in
                unsafe body(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + wanted)]))
            }.get()
        }
        var filled = 0
        var index = head
        while filled < wanted {
            let piece = pieces[index]
            let offset = piece.bytes == nil ? piece.start - dropped : piece.start
            let length = min(piece.end - piece.start, wanted - filled)
            unsafe (piece.bytes ?? gathered).withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[filled..<(filled + length)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
            }
            filled += length
            index += 1
        }
        return try unsafe body(UnsafeRawBufferPointer(rebasing: scratch[..<wanted])).get()
    }
}
