// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ZipFiles

@Suite("Names in an archive")
struct EntryNamesTests {
    @Test("each name is taken once, among the first few and among many")
    func once() {
        var names = EntryNames()
        func add(_ name: String) -> Bool { names.insert(name) }
        for number in 0..<100 { #expect(add("file\(number)")) }
        for number in 0..<100 { #expect(!add("file\(number)"), "\(number)") }
        #expect(names.count == 100)
        #expect(add("é"))
        #expect(!add("e\u{301}"), "file systems take the two for one name")
    }
}
