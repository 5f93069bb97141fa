// SPDX-License-Identifier: Apache-2.0

/// The path below which a service is reached, as a base URL names it: its segments, decoded as those of requests are.
package struct PathPrefix: Hashable, Sendable {
    /// The decoded segments; none for the root.
    let segments: [String]

    /// Nothing in front.
    package static let root = Self(segments: [])

    private init(segments: [String]) { self.segments = segments }

    /// Takes a path apart; doubled and trailing slashes don't matter.
    ///
    /// - Parameter path: percent-encoded, as the URL has it.
    /// - Throws: ``Problem`` for a path that no request can have, with what is wrong with it: wrong escapes, dot segments,
    ///   control characters.
    package init(_ path: String) throws(Problem) {
        segments = path.isEmpty ? [] : try PathSegments(path, mergesSlashes: true).segments
    }

    /// The prefix in one spelling, whatever was escaped that did not have to be: empty, or `/a/b%20c`.
    package var text: String { segments.map { "/" + PercentEncoding.encode($0) }.joined() }
}
