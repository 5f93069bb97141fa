// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Every text in a module's sources that has the form of a finding's code: words of small letters and digits, with dashes
/// between them.
///
/// - Parameter files: the names of files that are not looked at.
package func kebabTexts(of module: String, but files: Set<String>) throws -> Set<String> {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let folder = root + "/Sources/" + module
    var texts: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where path.hasSuffix(".swift") {
        guard !files.contains(String(path.split(separator: "/").last ?? "")),
            let data = FileManager.default.contents(atPath: folder + "/" + path)
        else { continue }
        for piece in [UInt8](data).split(separator: UInt8(ascii: "\"")) where isKebab(piece) {
            texts.insert(String(decoding: piece, as: UTF8.self))
        }
    }
    return texts
}

private func isKebab(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.contains(0x2D), bytes.first != 0x2D, bytes.last != 0x2D else { return false }
    return bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
}
