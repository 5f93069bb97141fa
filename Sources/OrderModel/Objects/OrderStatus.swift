// SPDX-License-Identifier: Apache-2.0

/// Where an order as a whole stands. Apple: WalletOrders, `Order.status`.
public enum OrderStatus: String, Sendable, Hashable, CaseIterable {
    /// Something is still to come.
    case open
    /// Everything was handed over. Wallet counts it as closed.
    case completed
    /// Nothing will come. Wallet counts it as closed.
    case cancelled

    static let names = allCases.map(\.rawValue)
}
