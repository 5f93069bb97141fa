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
                throw IPhoneError("expected \(name) in the order details, got none")
            }
            return text
        }
        self.orderType = try OrderTypeIdentifier(try text("orderTypeIdentifier"))
        self.order = try OrderIdentifier(try text("orderIdentifier"))
        let url = try text("webServiceURL")
        guard url.beginsExactly(with: "https://") else {
            throw IPhoneError("expected a webServiceURL with https://, got \(url)")
        }
        self.webServiceURL = url.endsExactly(with: "/") ? String(Substring(url.utf8.dropLast())) : url
        self.authenticationToken = try text("authenticationToken")
        guard self.authenticationToken.count >= 16 else {
            let count = self.authenticationToken.count
            throw IPhoneError("expected an authenticationToken of 16 characters or more, got one of \(count)")
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
