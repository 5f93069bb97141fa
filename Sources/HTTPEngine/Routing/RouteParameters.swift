// SPDX-License-Identifier: Apache-2.0

/// The values that a path has at the places of its pattern: percent-decoded once, UTF-8, without control characters, never empty.
package struct RouteParameters: Sendable {
    private let names: [String]
    private let values: [String]

    /// Pairs names with values in order; tests of a handler make their own.
    package init(names: [String] = [], values: [String] = []) {
        self.names = names
        self.values = values
    }

    /// The value of a parameter.
    /// - Precondition: the route's pattern has a parameter of that name. Asking for another is a programming error that the
    ///   first request of any test shows.
    package subscript(_ name: String) -> String {
        guard let index = names.firstIndex(of: name), index < values.count else {
            preconditionFailure("the route has no parameter {\(name)}")
        }
        return values[index]
    }
}
