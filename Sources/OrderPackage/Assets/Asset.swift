// SPDX-License-Identifier: Apache-2.0

public import Cryptography
import ZipFiles

/// An image, receipt or label whose digest and checksum were computed once; it goes into any number of packages.
public struct Asset: Sendable, Hashable {
    /// The file's bytes.
    public let contents: [UInt8]
    /// What it is, by content.
    public let format: AssetFormat
    /// Its size in pixels and whether it is opaque; nil for PDF, and for an image whose headers can't be read.
    public var image: ImageProperties? { format.isImage ? (try? ImageProperties(contents)) : nil }
    /// SHA-256 of the contents, by which it is stored and listed in manifests.
    public let digest: SHA256Digest
    /// The digest's hexadecimal digits, as a manifest has them.
    let digestText: String
    let crc32: UInt32
    /// Files made of it, shared by every copy.
    let files = AssetFiles()

    /// Recognises and sums the contents.
    ///
    /// - Throws: `emptyFile`, `unknownFormat`, `tooLarge` from 5 MB, which no package could hold.
    public init(_ contents: [UInt8]) throws(OrderPackageError) {
        guard !contents.isEmpty else { throw OrderPackageError(.emptyFile, "the file is empty") }
        guard contents.count < WalletPolicy.packageLimit else {
            throw OrderPackageError(.tooLarge, "the file has \(contents.count) bytes; a whole package stays below 5 MB")
        }
        guard let format = AssetFormat(contents) else {
            throw OrderPackageError(.unknownFormat, "the file is neither PNG, JPEG nor PDF, judged by its contents")
        }
        self.contents = contents
        self.format = format
        digest = SHA256.hash(contents)
        digestText = digest.hex
        crc32 = CRC32.checksum(contents)
    }

    /// Equal digests mean equal contents.
    public static func == (left: Asset, right: Asset) -> Bool { left.digest == right.digest }

    /// Hashes the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
