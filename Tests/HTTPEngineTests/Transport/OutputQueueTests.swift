// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import HTTPEngine

struct OutputQueueTests {
    @Test("Whatever is queued and however it is taken, the bytes come out in order, each once")
    func keepsOrder() {
        var random = SeededGenerator(seed: 7)
        let pattern = (0..<6000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        for _ in 0..<8 {
            var queue = OutputQueue()
            var expected: [UInt8] = []
            var taken: [UInt8] = []
            let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
            defer { unsafe scratch.deallocate() }
            for _ in 0..<250 {
                let length = [0, 1, 9, 300, 1023, 1024, 5000][Int(random.next() % 7)]
                let first = random.next()
                let bytes = Array(pattern[Int(first % 251)...].prefix(length))
                if random.next() % 2 == 0 {
                    let from = length / 3
                    queue.append(bytes, from: from, to: length)
                    expected += bytes[from...]
                } else {
                    unsafe bytes.withUnsafeBytes { unsafe queue.append(copying: $0) }
                    expected += bytes
                }
                while !queue.isEmpty, random.next() % 3 != 0 {
                    let wanted = Int(random.next() % 4096) + 1
                    let prefix = unsafe queue.withPrefix(limit: wanted, scratch: scratch) { bytes in
                        unsafe Result<[UInt8], Never>.success(Array(bytes))
                    }
                    #expect(prefix.count == min(wanted, queue.count))
                    let accepted = Int(random.next() % UInt64(prefix.count)) + 1
                    taken += prefix[..<accepted]
                    queue.consume(accepted)
                }
                #expect(queue.count == expected.count - taken.count)
            }
            #expect(expected.starts(with: taken))
        }
    }
}
