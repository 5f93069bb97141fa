// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Makes sure that a type has its row, which is how workers find its tickets. Cheap when it has.
    package func ensureOrderType(_ orderType: OrderTypeIdentifier) async throws {
        if knownTypes.withLock({ $0.contains(orderType) }) { return }
        _ = try await write(FileStatements.ensureOrderType, [.text(orderType.text)])
        knownTypes.withLock { _ = $0.insert(orderType) }
    }

    /// Every type that was ever ensured.
    package func orderTypes() async throws -> [OrderTypeIdentifier] {
        try await client.query(FileStatements.listOrderTypes).map { row in
            try stored { try OrderTypeIdentifier(try row.text(0)) }
        }
    }

    /// Begins to roll a type's changed files and strings out to its open orders; ``refreshBatch(of:size:_:)`` does it.
    package func startRefresh(of orderType: OrderTypeIdentifier) async throws {
        try await ensureOrderType(orderType)
        _ = try await write(FileStatements.startRefresh, [.text(orderType.text)])
    }

    /// Types whose roll-out is not finished.
    package func pendingRefreshes() async throws -> [OrderTypeIdentifier] {
        try await client.query(FileStatements.listRefreshes).map { row in
            try stored { try OrderTypeIdentifier(try row.text(0)) }
        }
    }
}
