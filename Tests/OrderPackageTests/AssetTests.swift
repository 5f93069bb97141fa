// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Testing

@testable import OrderPackage

@Suite("Assets")
struct AssetTests {
    @Test("a file is what it contains, not what it is called")
    func formats() throws {
        #expect(try Asset(Fixtures.png()).format == .png)
        #expect(try Asset([0xFF, 0xD8, 0xFF, 0xDB, 0]).format == .jpeg)
        #expect(try Asset(Array("%PDF-1.7 …".utf8)).format == .pdf)
        for contents in [Array("GIF89a".utf8), Array("<svg/>".utf8), [0x89, 0x50], [0xFF, 0xD8]] as [[UInt8]] {
            #expect { try Asset(contents) } throws: { ($0 as? OrderPackageError)?.code == .unknownFormat }
        }
        #expect { try Asset([]) } throws: { ($0 as? OrderPackageError)?.code == .emptyFile }
        #expect { try Asset(Fixtures.png(5_000_000)) } throws: { ($0 as? OrderPackageError)?.code == .tooLarge }
    }

    @Test("the cache holds no more than its capacity, and keeps what is asked for")
    func cache() throws {
        let cache = AssetCache(capacity: 10_000)
        let wanted = try Asset(Fixtures.png(992, seed: 200))
        cache.insert(wanted)
        for seed in 0..<100 {
            #expect(cache.asset(wanted.digest) == wanted)
            cache.insert(try Asset(Fixtures.png(992, seed: UInt8(seed))))
            #expect(cache.byteCount <= 10_000)
            #expect(cache.byteCount == cache.count * 1_000)
        }
        #expect(cache.count == 10)
        #expect(cache.asset(try Asset(Fixtures.png(992, seed: 99)).digest) != nil)
        #expect(cache.asset(try Asset(Fixtures.png(992, seed: 0)).digest) == nil)
        cache.insert(try Asset(Fixtures.png(20_000)))
        #expect(cache.count == 10)
        cache.insert(wanted)
        #expect(cache.count == 10)
    }
}
