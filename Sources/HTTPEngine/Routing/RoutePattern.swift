// SPDX-License-Identifier: Apache-2.0

/// A route's pattern, taken apart once at start.
struct RoutePattern {
    enum Segment: Equatable {
        case literal(String)
        case parameter(String)
        case rest(String)
    }

    let segments: [Segment]

    /// The names in order.
    var parameterNames: [String] {
        segments.compactMap { segment in
            switch segment {
            case .literal: nil
            case .parameter(let name), .rest(let name): name
            }
        }
    }

    /// Patterns are written in the source, so a bad one is a programming error.
    /// - Precondition: starts with "/"; `{name}` fills a whole segment; `{name...}` is the last; no name twice.
    init(_ text: String) {
        // short: patterns of ours.
        precondition(text.hasPrefix("/"), "route pattern \(text) does not start with /")
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        segments = parts.map { part in
            // short: patterns of ours.
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                precondition(
                    !part.contains("{") && !part.contains("}"),
                    "route pattern \(text): {} must fill a segment"
                )
                return .literal(String(part))
            }
            let name = part.dropFirst().dropLast()
            // short: patterns of ours.
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
        }
        for segment in segments.dropLast() {
            if case .rest = segment { preconditionFailure("route pattern \(text): {name...} must be last") }
        }
        let names = parameterNames
        precondition(Set(names).count == names.count, "route pattern \(text) has a parameter twice")
        precondition(!names.contains(""), "route pattern \(text) has a parameter without a name")
    }
}
