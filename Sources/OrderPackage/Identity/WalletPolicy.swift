// SPDX-License-Identifier: Apache-2.0

/// The object identifiers of Wallet's trust policy for orders.
///
/// Source: Apple's open-source Security framework, `SecPolicyCreateOrderBundleSigner`.
enum WalletPolicy {
    /// Marks an intermediate of Worldwide Developer Relations; the value is NULL.
    static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    /// Holds the order type identifier in the leaf.
    static let orderType = "1.2.840.113635.100.14.2"
    /// The extended key usage of order signing.
    static let orderUsage = "1.2.840.113635.100.4.19"
    /// Marks a leaf that may also open APNs; the value is NULL.
    static let pushMarker = "1.2.840.113635.100.6.3.2"
    /// Marks a Pass Type ID certificate, which is often taken for an order's.
    static let passType = "1.2.840.113635.100.6.1.16"
    /// TLS client authentication, by which the leaf opens APNs.
    static let clientUsage = "1.3.6.1.5.5.7.3.2"
    /// The smallest RSA key.
    static let smallestKey = 2_048
    /// A package has fewer bytes than this. Apple: `Return.returnLabel`.
    static let packageLimit = 5_000_000
}
