// SPDX-License-Identifier: Apache-2.0

/// The path patterns as a tree: at each place children by literal segment, one child for any segment, and the rest of the
/// path.
///
/// A value, copied with its router; after the router is handed to a server it is only read. The places lie in one array and
/// name each other by their index in it, so that a lookup copies none of them.
struct RouteTree: Sendable {
    /// A place in the tree.
    private struct Node: Sendable {
        var literals: [(segment: String, node: Int)] = []
        var parameter: Int?
        var routes: [HTTPRoute] = []
        var restRoutes: [HTTPRoute] = []
    }

    private var nodes = [Node()]

    /// Adds a route.
    /// - Returns: false when the method has a route on the same pattern already.
    mutating func insert(_ route: HTTPRoute, _ pattern: [RoutePattern.Segment]) -> Bool {
        var place = 0
        for segment in pattern {
            switch segment {
            case .literal(let text):
                if let known = nodes[place].literals.first(where: { $0.segment == text }) {
                    place = known.node
                } else {
                    nodes[place].literals.append((text, nodes.count))
                    place = addNode()
                }
            case .parameter:
                if let known = nodes[place].parameter {
                    place = known
                } else {
                    nodes[place].parameter = nodes.count
                    place = addNode()
                }
            case .rest:
                guard !nodes[place].restRoutes.contains(where: { $0.method == route.method }) else { return false }
                nodes[place].restRoutes.append(route)
                return true
            }
        }
        guard !nodes[place].routes.contains(where: { $0.method == route.method }) else { return false }
        nodes[place].routes.append(route)
        return true
    }

    private mutating func addNode() -> Int {
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Finds the route of a method, literal segments before parameters before rests; a branch that ends without the method is
    /// left for the next.
    /// - Parameters:
    ///   - values: takes the parameter values.
    ///   - allowed: takes the methods of every pattern that the path fits, for `Allow`.
    func find(
        _ method: HTTPMethod,
        _ segments: [String],
        _ values: inout [String],
        _ allowed: inout [HTTPMethod]
    ) -> HTTPRoute? {
        find(method, segments, 0, from: 0, &values, &allowed)
    }

    /// Goes on from a place with the segments from `depth` on.
    private func find(
        _ method: HTTPMethod,
        _ segments: [String],
        _ depth: Int,
        from place: Int,
        _ values: inout [String],
        _ allowed: inout [HTTPMethod]
    ) -> HTTPRoute? {
        guard depth < segments.count else { return Self.choose(method, nodes[place].routes, &allowed) }
        if let next = literal(segments[depth], at: place),
            let route = find(method, segments, depth + 1, from: next, &values, &allowed)
        {
            return route
        }
        guard !segments[depth].isEmpty else { return nil }
        if let next = nodes[place].parameter {
            let count = values.count
            values.append(segments[depth])
            if let route = find(method, segments, depth + 1, from: next, &values, &allowed) { return route }
            values.removeSubrange(count...)
        }
        if !nodes[place].restRoutes.isEmpty, let rest = Self.rest(segments[depth...]),
            let route = Self.choose(method, nodes[place].restRoutes, &allowed)
        {
            values.append(rest)
            return route
        }
        return nil
    }

    /// The child of a place by literal segment.
    private func literal(_ segment: String, at place: Int) -> Int? {
        // Lengths first: a run of accents, which no literal has, costs Swift's comparison the square of its length.
        let length = segment.utf8.count
        for index in nodes[place].literals.indices
        where nodes[place].literals[index].segment.utf8.count == length
            && nodes[place].literals[index].segment == segment
        {
            return nodes[place].literals[index].node
        }
        return nil
    }

    private static func choose(_ method: HTTPMethod, _ routes: [HTTPRoute], _ allowed: inout [HTTPMethod]) -> HTTPRoute?
    {
        if let route = routes.first(where: { $0.method == method }) { return route }
        if method == .head, let route = routes.first(where: { $0.method == .get }) { return route }
        allowed.append(contentsOf: routes.map(\.method))
        return nil
    }

    /// The segments as one text. Since an encoded "/" becomes a separator here, the parts are checked again.
    private static func rest(_ segments: ArraySlice<String>) -> String? {
        let text = segments.joined(separator: "/")
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
        return isPlain ? text : nil
    }
}
