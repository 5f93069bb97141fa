// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The names of an object's fields as they are written into packages, with the punctuation around them.
struct FieldLabels: Sendable {
    /// In one array, since to take one out of many would count references.
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []

    init(_ names: [String]) {
        for name in names {
            bytes += [UInt8(ascii: ",")] + JSONValue.string(name).serialized() + [UInt8(ascii: ":")]
            ends.append(bytes.count)
        }
    }

    /// Where in ``bytes`` the label of a field lies; of an object's first member without its comma.
    func range(_ position: Int, isFirst: Bool) -> Range<Int> {
        let start = position == 0 ? 0 : ends[position - 1]
        return (isFirst ? start + 1 : start)..<ends[position]
    }
}
