// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ServiceRuntime

extension TestAuthority {
    /// Issues the order type's and the server's certificates anew, for the same root and with new keys, and puts them into
    /// the folder of ``write(to:passphrase:)`` in the place of the old ones.
    ///
    /// - Parameter now: the moment, in seconds since 1970; nil for the clock.
    /// - Throws: `signing` when OpenSSL can't make keys, `unwritable`.
    package func renew(in folder: String, now: Int64? = nil) throws(OrderPackageError) -> TestAuthority {
        let renewed = TestAuthority(
            root: root,
            rootKey: rootKey,
            intermediate: intermediate,
            intermediateKey: intermediateKey,
            identity: try identity(for: identity.orderTypeIdentifier, now: now),
            server: try server(hosts: [], now: now)
        )
        let files: [(name: String, bytes: [UInt8], mode: UInt32)] = [
            ("identity.key", renewed.identity.key.pem(), 0o600),
            ("identity.pem", renewed.identity.certificate.pem(), 0o644),
            ("identity.p12", try renewed.pkcs12(Self.defaultPassphrase), 0o600),
            ("server.key", renewed.server.key.pem(), 0o600), ("server.pem", renewed.server.certificate.pem(), 0o644),
        ]
        do throws(SystemError) {
            for file in files { try Files.write(file.bytes, to: "\(folder)/\(file.name)", mode: file.mode) }
        } catch {
            throw OrderPackageError(.unwritable, path: folder, "the test authority can't be renewed: \(error)")
        }
        return renewed
    }
}
