// SPDX-License-Identifier: Apache-2.0

package import ExactJSON
package import OrderModel
import PostgreSQL

extension OrderStore {
    /// Gives a type its strings for a locale. An order's own keys go over them; revisions that exist keep theirs.
    ///
    /// - Throws: ``StoreError`` with `packageTooLarge` when no package could hold the strings of all locales.
    package func putTypeStrings(
        _ table: JSONObject,
        locale: String,
        of orderType: OrderTypeIdentifier
    ) async throws {
        try OrderFile.check(locale: locale)
        let text = StringsText.text(of: table)
        try await transaction { connection in
            let rows = try await connection.query(
                FileStatements.putTypeStrings,
                [.text(orderType.text), .text(locale), .text(text)]
            )
            if rows.affected > 0 {
                let all = try await connection.query(FileStatements.readTypeStrings, [.text(orderType.text)])
                if let refusal = try Self.weight(typeStrings: all).refusal(document: 0) { throw refusal }
                _ = try await connection.query(FileStatements.raisePartsVersion, [.text(orderType.text)])
            }
        }
    }

    /// Takes the strings of a locale from a type.
    ///
    /// - Throws: ``StoreError`` with `localizationNotFound`.
    package func removeTypeStrings(locale: String, of orderType: OrderTypeIdentifier) async throws {
        let type = PostgresValue.text(orderType.text)
        let wasThere = try await changes(
            FileStatements.removeTypeStrings,
            [type, .text(locale)],
            then: (FileStatements.raisePartsVersion, [type])
        )
        if !wasThere { throw StoreError(.localizationNotFound, "The order type has no strings for this locale.") }
    }

    /// A type's strings for a locale.
    package func typeStrings(locale: String, of orderType: OrderTypeIdentifier) async throws -> JSONObject? {
        let rows = try await client.query(FileStatements.readTypeStrings, [.text(orderType.text)])
        for row in rows where try row.text(0).isExactly(locale) { return try StringsText.table(try row.text(1)) }
        return nil
    }

    /// The locales that a type has strings for.
    package func typeLocales(of orderType: OrderTypeIdentifier) async throws -> [String] {
        try await client.query(FileStatements.readTypeStrings, [.text(orderType.text)]).map { try $0.text(0) }
    }

    /// An order's own strings for a locale, without the type's.
    package func orderStrings(locale: String, of key: OrderKey) async throws -> JSONObject? {
        let rows = try await client.query(
            FileStatements.readOrderStrings,
            [.text(key.orderType.text), .texts([key.order.text])]
        )
        for row in rows where try row.text(1).isExactly(locale) { return try StringsText.table(try row.text(2)) }
        return nil
    }
}

/// Strings tables as the database keeps them: JSON objects with sorted keys, so that equal tables are equal texts.
enum StringsText {
    static func text(of table: JSONObject) -> String {
        String(decoding: JSONValue.object(table).serialized(.canonical), as: UTF8.self)
    }

    static func table(_ text: String) throws -> JSONObject {
        try stored {
            guard let table = try JSONValue(parsing: Array(text.utf8)).objectValue else {
                throw StoreError(.corrupt, "A strings table is no object.")
            }
            return table
        }
    }
}
