// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A part of a certificate's subject (RFC 4519), as Apple lays out its Order Type ID certificates.
public enum NameField: String, Hashable, Sendable, CaseIterable {
    /// `UID`, 0.9.2342.19200300.100.1.1: the order type identifier.
    case userID = "UID"
    /// `CN`: what people read.
    case commonName = "CN"
    /// `OU`: the ten-character team identifier.
    case organizationalUnit = "OU"
    /// `O`: the company.
    case organization = "O"
    /// `C`: two letters.
    case country = "C"

    /// What a value may be, in words (RFC 5280 A.1).
    var limit: String {
        switch self {
        case .userID: "a text"
        case .commonName, .organizationalUnit, .organization: "1 to 64 characters"
        case .country: "two letters"
        }
    }

    var identifier: Int32 {
        switch self {
        case .userID: NID_userId
        case .commonName: NID_commonName
        case .organizationalUnit: NID_organizationalUnitName
        case .organization: NID_organizationName
        case .country: NID_countryName
        }
    }
}
