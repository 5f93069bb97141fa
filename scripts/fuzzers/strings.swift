// SPDX-License-Identifier: Apache-2.0

// Fuzzes the reader of order.strings; scripts/fuzz compiles it together with the sources of OrderModel into one module, on
// top of ExactJSON.
#if canImport(OrderModel)
    import OrderModel
#endif

/// Reads any bytes. What can be read must come back equal from writing, and a second writing must give the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStrings(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let table: StringsTable
    do {
        table = try StringsTable.parse(bytes)
    } catch {
        precondition(error.line >= 1 && !error.message.isEmpty, "a fault without place or advice")
        return 0
    }
    let written = table.write()
    let again: StringsTable
    do { again = try StringsTable.parse(written) } catch {
        preconditionFailure("what was written is refused: \(error)")
    }
    // By code points: Swift's own comparison takes different spellings of an accent for one.
    precondition(again.entries.count == table.entries.count, "entries were lost")
    for (one, other) in zip(table.entries, again.entries) {
        precondition(one.key.utf8.elementsEqual(other.key.utf8), "a key differs")
        precondition(one.text.utf8.elementsEqual(other.text.utf8), "a text differs")
    }
    precondition(again.write() == written, "writing is not stable")
    return 0
}
