// SPDX-License-Identifier: Apache-2.0

/// What a method and a path lead to. Known as soon as the header is complete, so that a body is only read within its limit.
package enum RouteMatch: Sendable {
    /// A route and what the path says for its parameters. `HEAD` leads to the `GET` route.
    case route(HTTPRoute, RouteParameters)
    /// An `OPTIONS` request; 204 with this `Allow`.
    case options(allow: String)
    /// No route: 400, 404 or 405.
    case refused(Problem)

    /// The largest body that the request may have, in bytes.
    package var bodyLimit: Int {
        switch self {
        case .route(let route, _): route.bodyLimit
        case .options, .refused: 0
        }
    }

    /// Who may send a body; nil: anyone.
    var gate: HTTPGate? { if case .route(let route, _) = self { route.gate } else { nil } }

    /// What metrics call it.
    package var name: String {
        switch self {
        case .route(let route, _): route.name
        case .options: "options"
        case .refused(let problem): problem.code
        }
    }
}
