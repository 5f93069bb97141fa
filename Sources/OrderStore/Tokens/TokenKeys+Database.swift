// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import PostgreSQL
import ServiceRuntime

/// The ring of one machine and the database that it is used with.
///
/// Machines that serve one database need the same key files. The files themselves can't show whether they are: another key
/// under the same number works without a word, and every device of an order made with the first one gets 401 for good. So
/// the database keeps a mark of each key.
extension TokenKeys {
    /// A ring as a machine has it.
    package struct OnMachine: Sendable {
        /// The folder of its files.
        package let directory: String
        /// The ring; of a first key that is in no file yet when ``isNew``.
        package let keys: TokenKeys
        /// Whether the folder had no key.
        package let isNew: Bool

        /// Reads the ring of a folder.
        ///
        /// - Parameter makingFirst: thinks of a first key when the folder has none. It is written down by
        ///   ``settle(_:)``, which asks the database whether it may be.
        /// - Throws: ``StoreError`` with `badKeyFile`.
        package static func read(_ directory: String, makingFirst: Bool) async throws -> OnMachine {
            if makingFirst, try await TokenKeys.isEmpty(directory) {
                return OnMachine(directory: directory, keys: .random(), isNew: true)
            }
            let keys = try await TokenKeys.load(directory: directory, createIfMissing: false)
            return OnMachine(directory: directory, keys: keys, isNew: false)
        }

        /// Compares the ring with what the database knows. Changes nothing.
        ///
        /// - Returns: what is wrong and what to do about it; nil when nothing is.
        package func fault(_ client: PostgresClient) async throws -> String? {
            var known: [Int: [UInt8]] = [:]
            for row in try await client.query(TokenKeyStatements.listTokenKeys) {
                known[Int(try row.int(0))] = try row.bytes(1)
            }
            if self.isNew, known.isEmpty, try await client.query(TokenKeyStatements.hasOrders).first?.bool(0) == true {
                return self.words("holds no token-<number>.key file, but the database has orders made with one")
            }
            let marks = self.isNew ? [:] : self.keys.marks
            let missing = known.keys.filter { marks[$0] == nil }.sorted()
            if !missing.isEmpty {
                let names = missing.map { "token-\($0).key" }.joined(separator: ", ")
                return self.words("lacks \(names), which this database's orders need")
            }
            let others = known.keys.filter { marks[$0] != known[$0] }.sorted()
            if others.isEmpty { return nil }
            let names = others.map { "token-\($0).key" }.joined(separator: ", ")
            return self.words("has another \(names) than the one that this database's orders were made with")
        }

        /// Sees that the ring is the database's, writes a first key down, and has the database remember keys that are new.
        ///
        /// - Returns: the ring in force: a process that started at the same moment may have been first.
        /// - Throws: ``StoreError`` with `badKeyFile`: what is wrong and what to do about it.
        package func settle(_ client: PostgresClient) async throws -> TokenKeys {
            var ring = self
            if let fault = try await ring.fault(client) {
                // The file is there before the database hears of it: a process that started at the same moment was first.
                guard self.isNew, try await !TokenKeys.isEmpty(self.directory) else {
                    throw StoreError(.badKeyFile, fault)
                }
                ring = try await OnMachine.read(self.directory, makingFirst: false)
                if let fault = try await ring.fault(client) { throw StoreError(.badKeyFile, fault) }
            }
            var made: String?
            if ring.isNew {
                let file = try await self.keys.writeFirst(in: self.directory)
                made = file.isMade ? file.path : nil
                ring = try await OnMachine.read(self.directory, makingFirst: false)
            }
            for (kid, mark) in ring.keys.marks.sorted(by: { $0.key < $1.key }) {
                _ = try await client.query(TokenKeyStatements.addTokenKey, [.int(Int64(kid)), .bytes(mark)])
            }
            // Another machine may have been first with the same number.
            if let fault = try await ring.fault(client) {
                if let made { try await runBlocking { try Files.removeTree(made) } }
                throw StoreError(.badKeyFile, fault)
            }
            return ring.keys
        }

        /// Whether a ring is this one.
        package func isSame(_ other: TokenKeys) -> Bool { self.keys.marks == other.marks }

        private func words(_ what: String) -> String {
            "The token keys of this machine are not this database's: \(self.directory) \(what). Copy the files there from "
                + "a machine that has them, or from a backup; another key would lock out the devices of all orders."
        }
    }
}
