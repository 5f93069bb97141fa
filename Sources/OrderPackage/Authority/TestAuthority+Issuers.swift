// SPDX-License-Identifier: Apache-2.0

import Cryptography

extension TestAuthority {
    /// What everything else in the folder can be issued anew from.
    struct Issuers {
        let root: Certificate
        let rootKey: PrivateKey
        let intermediate: Certificate
        let intermediateKey: PrivateKey
    }
}

extension TestAuthority.Issuers {
    /// Makes them, with new keys.
    init(now: Int64) throws(CryptographyError) {
        rootKey = try PrivateKey.generateRSA()
        root = try TestCertificates.root(now).issue(for: rootKey, issuer: nil)
        intermediateKey = try PrivateKey.generateRSA()
        intermediate = try TestCertificates.intermediate("G4", now)
            .issue(for: intermediateKey, issuer: (root, rootKey))
    }

    /// Reads them out of a folder.
    ///
    /// - Throws: `unreadableFile`, `unreadableIdentity`, `noCertificate`, `keyMismatch`, `brokenChain`.
    init(_ folder: String) throws(OrderPackageError) {
        (root, rootKey) = try TestAuthority.pair(folder, "root")
        (intermediate, intermediateKey) = try TestAuthority.pair(folder, "intermediate")
        guard intermediate.isSigned(by: root) else {
            throw OrderPackageError(.brokenChain, path: "\(folder)/intermediate.pem", "root.pem did not sign it")
        }
    }
}
