// SPDX-License-Identifier: Apache-2.0

// Fuzzes the zip reader, libzip's inflater included: scripts/fuzz zip.
import ZipFiles

/// Two archives of common tools: with deflated and stored entries, and with a data descriptor.
private let good = [
    archive(
        """
        504b0304140000000800000021009dfe5b60120000002b0000000a0000006f726465722e6a736f6eab564a54b252ca48cdc9c957c04b2ad50200
        504b03041400000000000000210060080beb0600000006000000080000006c6f676f2e706e6789504e470d0a504b030414000000080000002100
        468e81c7100000006300000016000000656e2e6c70726f6a2f6f726465722e737472696e6773534a5452b055504a52b2e652a2111300504b0102
        1403140000000800000021009dfe5b60120000002b0000000a0000000000000000000000a481000000006f726465722e6a736f6e504b01021403
        1400000000000000210060080beb0600000006000000080000000000000000000000a4813a0000006c6f676f2e706e67504b0102140314000000
        080000002100468e81c71000000063000000160000000000000000000000a48166000000656e2e6c70726f6a2f6f726465722e737472696e6773
        504b05060000000003000300b2000000aa0000000000
        """
    ),
    archive(
        """
        504b0304140008000800000021000000000000000000000000000a0000006f726465722e6a736f6eab564a54b252ca48cdc9c957c020956a0150
        4b0708469bd8ab110000001f000000504b0102140314000800080000002100469bd8ab110000001f0000000a0000000000000000000000a48100
        0000006f726465722e6a736f6e504b0506000000000100010038000000490000000000
        """
    ),
]

private func archive(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

/// Reads the input as an archive, or as changes to a good one. What is read has the size it was said to have and stays
/// within the limits; an archive without faults has safe names, each once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzZip(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let kind = Int(input.first ?? 0) % 3
    check(kind == 2 ? input : Edits.apply(input.dropFirst(), to: good[kind]))
    return 0
}

private func check(_ bytes: [UInt8]) {
    let limits = ZipLimits(entries: 20, totalBytes: 100_000, ratio: 50)
    let (reader, faults) = ZipReader.inspect(bytes, limits: limits)
    precondition(reader.entries.count <= limits.entries, "more entries than allowed")
    var total = 0
    for entry in reader.entries {
        guard let contents = try? reader.contents(of: entry) else { continue }
        precondition(contents.count == entry.size, "another size than was said")
        total += contents.count
    }
    guard faults.isEmpty else {
        precondition((try? ZipReader(bytes, limits: limits)) == nil, "a faulty archive was taken")
        return
    }
    precondition(total <= limits.totalBytes, "more bytes than allowed")
    precondition(Set(reader.entries.map(\.name)).count == reader.entries.count, "a name twice")
    precondition(reader.entries.allSatisfy { EntryName.fault($0.name) == nil }, "an unsafe name")
}
