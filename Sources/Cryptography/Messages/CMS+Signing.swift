// SPDX-License-Identifier: Apache-2.0

extension CMS {
    /// Signs `content` once; what signs again and again keeps a ``CMSSigner``.
    ///
    /// - Throws: as ``CMSSigner``.
    package static func signDetached(
        _ content: [UInt8],
        signer: Certificate,
        key: PrivateKey,
        intermediates: [Certificate],
        signingTime: Int64
    ) throws(CryptographyError) -> [UInt8] {
        try CMSSigner(certificate: signer, key: key, intermediates: intermediates)
            .sign(content, signingTime: signingTime)
    }
}
