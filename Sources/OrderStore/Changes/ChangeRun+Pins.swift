// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import PostgreSQL
import ServiceRuntime

extension ChangeRun {
    /// Keeps what is about to be pinned from erasures until the commit. All of a chunk's contents are locked at once and
    /// sorted, after its heads and before its devices, as everywhere; and shared, so that changes which pin the same strings
    /// don't wait for each other.
    ///
    /// - Returns: those of the contents that have to be put.
    /// - Throws: `PostgresError` with `serialization`, which repeats the change, when a file of the type was replaced since it
    ///   was planned and its contents went with the erasure of the last order that had them.
    func hold(_ parts: [OrderPart], _ contents: [OrderFile]) async throws -> [OrderFile] {
        let digests = Set(parts.map(\.digest)).union(contents.map(\.digest))
        if digests.isEmpty { return [] }
        let rows = try await connection.query(
            FileStatements.holdAssets,
            [.text(orderType.text), .bytesArray(digests.map(\.bytes))]
        )
        var isIdle: [SHA256Digest: Bool] = [:]
        for row in rows { isIdle[try SHA256Digest(stored: row.bytes(0))] = try row.bool(1) }
        let brought = Set(contents.map(\.digest))
        let gone = Set(
            parts.filter { $0.origin == .type }.map(\.digest).filter { isIdle[$0] == nil && !brought.contains($0) }
        )
        // What is missing in a new plan, too, is missing for another reason, which must not keep the order from its news.
        let isNews = missed.withLock { missed in
            let before = missed
            missed.formUnion(gone)
            return !gone.isSubset(of: before)
        }
        if isNews { throw PostgresError(.serialization, "contents of a file of the order type are gone") }
        return contents.filter { isIdle[$0.digest] ?? true }
    }
}
