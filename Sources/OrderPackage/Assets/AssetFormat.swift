// SPDX-License-Identifier: Apache-2.0

/// The kinds of file that Wallet shows, recognised by content: names lie.
public enum AssetFormat: String, Sendable, Hashable, CaseIterable {
    /// Logos, product images, receipts and labels.
    case png
    /// Logos, product images, receipts and labels.
    case jpeg
    /// Receipts and return labels only.
    case pdf

    /// Recognises contents, or gives nil.
    public init?(_ contents: [UInt8]) {
        func starts(_ prefix: [UInt8]) -> Bool { contents.starts(with: prefix) }
        if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if starts([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts(Array("%PDF-".utf8)) {
            self = .pdf
        } else {
            return nil
        }
    }

    /// The media type, for serving the file as such.
    public var mediaType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .pdf: "application/pdf"
        }
    }

    /// Whether Wallet can show it as an image.
    public var isImage: Bool { self != .pdf }
}
