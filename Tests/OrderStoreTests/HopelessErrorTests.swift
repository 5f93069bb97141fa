// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import Testing

@testable import OrderStore

/// Of many changes at once, which failures end all and which are one order's own.
@Suite("Errors that end all changes: OrderStoreTests")
struct HopelessErrorTests {
    @Test(
        "a failure that each further order would wait for ends all",
        arguments: [
            PostgresError.Code.connection, .refused, .noDatabase, .shuttingDown, .exhausted, .unknownCommit, .busy,
        ]
    )
    func endsAll(code: PostgresError.Code) { #expect(OrderStore.endsAll(PostgresError(code, "as a test has it"))) }

    @Test(
        "a failure that may be one order's own does not",
        arguments: [PostgresError.Code.lockTimeout, .deadlock, .serialization, .statementTimeout, .decoding]
    )
    func isOnes(code: PostgresError.Code) { #expect(!OrderStore.endsAll(PostgresError(code, "as a test has it"))) }
}
