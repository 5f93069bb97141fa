// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// A finished, signed package: the bytes of a `.order` file.
public struct OrderPackage: Sendable {
    /// The media type of the file, without parameters. Apple: "Get the latest version of an order".
    public static let mediaType = "application/vnd.apple.finance.order"

    /// The bytes in order. Large images are the arrays that were handed in, not copies.
    public let chunks: [[UInt8]]
    /// The size of the file.
    public let byteCount: Int
    private let signature: [UInt8]
    /// The digest of the signature, and with it of everything in the package: files, identity and signing time. Summed
    /// when it is asked for: few ask.
    public var signatureDigest: SHA256Digest { SHA256.hash(signature) }

    init(chunks: [[UInt8]], byteCount: Int, signature: [UInt8]) {
        self.chunks = chunks
        self.byteCount = byteCount
        self.signature = signature
    }

    /// The bytes as one array; copies them.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        for chunk in chunks { bytes.append(contentsOf: chunk) }
        return bytes
    }
}
