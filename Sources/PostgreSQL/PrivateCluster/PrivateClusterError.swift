// SPDX-License-Identifier: Apache-2.0

/// Why the private database can't run: what, where, and what to do instead.
package struct PrivateClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What a caller can act on.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// No PostgreSQL 15 or newer is installed.
        case noServer
        /// We are root and there is no user `postgres` to run the server as.
        case noUser
        /// The data directory belongs to another major version.
        case otherVersion
        /// The data directory is there but holds something else.
        case notACluster
        /// A directory can't be made or written.
        case unwritable
        /// The server's user can't reach the data directory.
        case unreachable
        /// The path of the socket is longer than the kernel takes.
        case pathTooLong
        /// Another process runs on this directory.
        case inUse
        /// `initdb` or the server failed.
        case failed
    }

    /// What a caller can act on.
    package let code: Code
    /// For people.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The exit status of a command that ends for this: 78 when the configuration has to change, 69 when the database is
    /// not to be had right now (sysexits.h).
    package var exitStatus: Int32 {
        switch self.code {
        case .noServer, .noUser, .otherVersion, .notACluster, .unwritable, .unreachable, .pathTooLong, .inUse: 78
        case .failed: 69
        }
    }

    package var description: String { self.message }

    /// Equal when a caller would act alike.
    package static func == (a: PrivateClusterError, b: PrivateClusterError) -> Bool { a.code == b.code }
}
