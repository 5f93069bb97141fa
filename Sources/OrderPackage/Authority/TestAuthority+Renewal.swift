// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import ServiceRuntime

extension TestAuthority {
    /// Issues the order type's and the server's certificates anew, for the same root and with new keys, and puts them into
    /// the folder of ``write(to:passphrase:)`` in the place of the old ones.
    ///
    /// - Parameter now: the moment, in seconds since 1970; nil for the clock.
    /// - Throws: `signing` when OpenSSL can't make keys, `unwritable`.
    package func renew(in folder: String, now: Int64? = nil) throws(OrderPackageError) -> TestAuthority {
        try Self.renew(in: folder, issuers, for: identity.orderTypeIdentifier, now: now)
    }

    /// The same when the certificates that are replaced, or their keys, can't be read, or don't belong together: a process
    /// that was killed while it renewed leaves a new key beside an old certificate.
    ///
    /// - Parameter orderType: what is taken when the old certificate doesn't say it any more.
    /// - Throws: as ``renew(in:now:)``, and as ``read(from:)`` for root and intermediate, without which nothing is issued.
    package static func restore(
        in folder: String,
        orderType: OrderTypeIdentifier
    ) throws(OrderPackageError) -> TestAuthority {
        let old = (try? certificate(folder, "identity.pem"))?.extensionString(WalletPolicy.orderType)
        let type = old.flatMap { try? OrderTypeIdentifier($0) } ?? orderType
        return try renew(in: folder, Issuers(folder), for: type, now: nil)
    }

    private static func renew(
        in folder: String,
        _ issuers: Issuers,
        for orderType: OrderTypeIdentifier,
        now: Int64?
    ) throws(OrderPackageError) -> TestAuthority {
        let renewed = try TestAuthority.issue(orderType, from: issuers, now: now ?? WallTime.now().seconds)
        let files: [(name: String, bytes: [UInt8], mode: UInt32)] = [
            ("identity.key", renewed.identity.key.pem(), 0o600),
            ("identity.pem", renewed.identity.certificate.pem(), 0o644),
            ("identity.p12", try renewed.pkcs12(defaultPassphrase), 0o600),
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
