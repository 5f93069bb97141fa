// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// The folder that holds what one installation owns: `pg/ socket/ pki/ keys/`.
struct DataDirectory: Sendable {
    let path: String

    var keys: String { self.path + "/keys" }
    var pki: String { self.path + "/pki" }

    /// Makes the folder when it is missing, for its owner alone.
    ///
    /// The private cluster runs as another user when we are root, so the folder itself must let that user through; what is
    /// secret is in folders of their own with mode 0700.
    ///
    /// - Throws: `CommandFailure` (78) when it can't be made or written.
    init(_ path: String) async throws {
        self.path = path
        do {
            try await runBlocking {
                try Files.createDirectory(path, mode: geteuid() == 0 ? 0o711 : 0o700)
                try Files.createDirectory(path + "/keys", mode: 0o700)
                try Files.createDirectory(path + "/pki", mode: 0o700)
                // What can't be written would show later, in the middle of the work.
                try Files.write([], to: path + "/keys/.writable", mode: 0o600)
                unlinkQuietly(path + "/keys/.writable")
            }
        } catch {
            throw CommandFailure(
                .configuration,
                "the data directory \(path) can't be used: \(error). Make it writable for this user, or name another "
                    + "with --data-dir (WALLETORDERS_DATA_DIR, dataDir)"
            )
        }
    }
}

private func unlinkQuietly(_ path: String) {
    do { try Files.removeTree(path) } catch {}
}
