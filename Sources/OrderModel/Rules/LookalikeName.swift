// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// A file's name as the name of others that look alike: systems differ over whether an accent that is written in two ways
/// makes two names.
///
/// A name that is too long for any file equals the same bytes only: Swift's comparison, which takes the two ways for one,
/// needs the square of a run of accents.
struct LookalikeName: Hashable {
    let text: String
    private let isShort: Bool

    init(_ text: String) {
        self.text = text
        isShort = text.utf8.count <= FileName.byteLimit
    }

    static func == (left: Self, right: Self) -> Bool {
        left.isShort && right.isShort ? left.text == right.text : left.text.isExactly(right.text)
    }

    func hash(into hasher: inout Hasher) {
        if isShort { hasher.combine(text) } else { hasher.combine(ExactKey(text)) }
    }
}
