// SPDX-License-Identifier: Apache-2.0

/// A place in the tree of path patterns: children by literal segment, one child for any segment, and the rest of the path.
///
/// A value, copied with its router; after the router is handed to a server it is only read.
struct RouteNode: Sendable {
    private var literals: [(segment: String, node: RouteNode)] = []
    private var parameter: [RouteNode] = []
    private var routes: [HTTPRoute] = []
    private var restRoutes: [HTTPRoute] = []

    /// Adds a route below this node.
    /// - Returns: false when the method has a route on the same pattern already.
    mutating func insert(_ route: HTTPRoute, _ pattern: ArraySlice<RoutePattern.Segment>) -> Bool {
        guard let segment = pattern.first else {
            guard !routes.contains(where: { $0.method == route.method }) else { return false }
            routes.append(route)
            return true
        }
        switch segment {
        case .literal(let text):
            if let index = literals.firstIndex(where: { $0.segment == text }) {
                return literals[index].node.insert(route, pattern.dropFirst())
            }
            var node = RouteNode()
            let isNew = node.insert(route, pattern.dropFirst())
            literals.append((text, node))
            return isNew
        case .parameter:
            if parameter.isEmpty { parameter.append(RouteNode()) }
            return parameter[0].insert(route, pattern.dropFirst())
        case .rest:
            guard !restRoutes.contains(where: { $0.method == route.method }) else { return false }
            restRoutes.append(route)
            return true
        }
    }

    /// Finds the route of a method, literal segments before parameters before rests; a branch that ends without the method is
    /// left for the next.
    /// - Parameters:
    ///   - values: the parameter values on the way here.
    ///   - allowed: takes the methods of every pattern that the path fits, for `Allow`.
    func find(
        _ method: HTTPMethod,
        _ segments: ArraySlice<String>,
        _ values: inout [String],
        _ allowed: inout [HTTPMethod]
    ) -> HTTPRoute? {
        guard let segment = segments.first else { return Self.choose(method, routes, &allowed) }
        // Where they are: a node that is taken out of its array is copied with all that it has.
        let literals = literals.span
        let length = segment.utf8.count
        // Lengths first: a run of accents, which no literal has, costs Swift's comparison the square of its length.
        for index in literals.indices
        where literals[index].segment.utf8.count == length && literals[index].segment == segment {
            if let route = literals[index].node.find(method, segments.dropFirst(), &values, &allowed) { return route }
            break
        }
        guard !segment.isEmpty else { return nil }
        let depth = values.count
        if !parameter.isEmpty {
            values.append(segment)
            let parameter = parameter.span
            if let route = parameter[0].find(method, segments.dropFirst(), &values, &allowed) { return route }
            values.removeSubrange(depth...)
        }
        if !restRoutes.isEmpty, let rest = Self.rest(segments), let route = Self.choose(method, restRoutes, &allowed) {
            values.append(rest)
            return route
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
