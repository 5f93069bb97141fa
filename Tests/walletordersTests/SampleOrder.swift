// SPDX-License-Identifier: Apache-2.0

/// An order that is good as it stands.
enum SampleOrder {
    /// `order.json`.
    static let text = """
        {"schemaVersion": 1, "orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "A-1",
         "orderNumber": "1", "orderType": "ecommerce", "status": "open", "createdAt": "2026-01-02T03:04:05Z",
         "updatedAt": "2026-01-02T03:04:05Z", "orderManagementURL": "https://www.example.com/o",
         "merchant": {"displayName": "Shop", "merchantIdentifier": "merchant.com.example.shop",
                      "url": "https://www.example.com/"}}
        """
}
