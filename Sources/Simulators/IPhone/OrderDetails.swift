// SPDX-License-Identifier: Apache-2.0
package import ExactJSON
package import OrderModel

/// The four values that a checkout hands to the phone, as `PKPaymentOrderDetails` and Apple Pay on the web take them.
package struct OrderDetails: Sendable {
    /// The order type.
    package let orderType: OrderTypeIdentifier
    /// The order.
    package let order: OrderIdentifier
    /// Where the phone calls; without a slash at its end.
    package let webServiceURL: String
    /// The order's own secret.
    package let authenticationToken: String

    /// Reads them from JSON, alone or as the member `orderDetails` of a larger answer.
    ///
    /// - Throws: `IPhoneError` that names the missing member.
    package init(_ value: JSONValue) throws {
        let details = value["orderDetails"] ?? value
        func text(_ name: String) throws -> String {
            guard let text = details[name]?.stringValue else {
                throw IPhoneError("the order details have no \(name)")
            }
            return text
        }
        self.orderType = try OrderTypeIdentifier(try text("orderTypeIdentifier"))
        self.order = try OrderIdentifier(try text("orderIdentifier"))
        let url = try text("webServiceURL")
        guard url.hasPrefix("https://") else { throw IPhoneError("webServiceURL does not begin with https://") }
        self.webServiceURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.authenticationToken = try text("authenticationToken")
        guard self.authenticationToken.count >= 16 else {
            throw IPhoneError("authenticationToken has fewer than 16 characters")
        }
    }
}

/// What a simulated phone stumbled over.
package struct IPhoneError: Error, CustomStringConvertible {
    package let description: String

    /// Makes an error of what was expected and what came.
    package init(_ description: String) {
        self.description = description
    }
}
