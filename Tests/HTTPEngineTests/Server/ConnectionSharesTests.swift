// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import Testing

@testable import HTTPEngine

@Suite("HTTP server: a process's descriptors")
struct ConnectionSharesTests {
    @Test(
        "where there are too few, each listener has a part, the small one all it wants, and the rest stays free",
        arguments: [
            (1 << 20, [10_000, 10_000, 256]), (20_456, [10_000, 10_000, 256]), (20_455, [9_999, 9_999, 256]),
            (1_024, [284, 284, 256]), (968, [256, 256, 256]), (800, [200, 200, 200]), (300, [33, 33, 33]),
            (100, [1, 1, 1]), (0, [1, 1, 1]),
        ]
    )
    func divide(descriptors: Int, shares: [Int]) {
        #expect(ConnectionShares.divide([10_000, 10_000, 256], descriptors: descriptors, kept: 200) == shares)
    }

    @Test("the limit that a process starts with is raised as far as it may be")
    func raise() throws {
        let before = ProcessDescriptors.limit
        var limit = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0)
        ProcessDescriptors.raiseLimit()
        #expect(ProcessDescriptors.limit == Int(clamping: limit.rlim_max))
        #expect(ProcessDescriptors.limit >= before)
    }
}
