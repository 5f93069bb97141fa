// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

/// Every test that needs a database: one private server for all of them, one database for each.
@Suite(.database)
enum StoreTests {}

extension StoreFixture {
    /// Every rule of the tables holds.
    func expectInvariants(_ location: SourceLocation = #_sourceLocation) async throws {
        // The identity of each newest revision can be computed again from what its package is built of.
        for orderType in try await store.orderTypes() {
            for head in try await store.orders(OrderQuery(orderType: orderType, limit: 50)).heads {
                guard let package = try await store.package(head.key) else { continue }
                let digest = RevisionDigest.make(
                    document: String(decoding: package.document.json.serialized(), as: UTF8.self),
                    parts: OrderPart.digest(of: package.parts),
                    modifiedAt: package.head.modifiedAt.seconds
                )
                #expect(package.head.digest == digest, sourceLocation: location)
            }
        }
        for report in try await store.checkInvariants() {
            #expect(report.violations == 0, "\(report.name)", sourceLocation: location)
        }
    }
}
