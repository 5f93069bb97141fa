// SPDX-License-Identifier: Apache-2.0

/// The parts in DER that are the same in all orders' signatures.
enum CMSParts {
    static let sha256 = "2.16.840.1.101.3.4.2.1"
    static let rsa = "1.2.840.113549.1.1.1"

    static let version3 = DER.integer(3)
    static let dataIdentifier = identifier(CMS.dataType)
    static let signedDataIdentifier = identifier("1.2.840.113549.1.7.2")
    static let signingTimeIdentifier = identifier(CMS.signingTimeAttribute)
    static let messageDigestIdentifier = identifier(CMS.messageDigestAttribute)
    /// The attribute contentType, whose value is always the same.
    static let contentType = DER.sequence([
        identifier(CMS.contentTypeAttribute), DER.value(0x31, dataIdentifier),
    ])
    /// Without parameters, as in the one real order known (RFC 5754 2 allows both forms).
    static let sha256Algorithm = DER.sequence([identifier(sha256)])
    static let sha256AlgorithmWithNull = DER.sequence([identifier(sha256), DER.null])
    static let rsaAlgorithm = DER.sequence([identifier(rsa), DER.null])

    private static func identifier(_ dotted: String) -> [UInt8] {
        guard let encoded = DER.objectIdentifier(dotted) else { fatalError("\(dotted) is no object identifier") }
        return encoded
    }
}
