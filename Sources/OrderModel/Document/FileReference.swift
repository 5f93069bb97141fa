// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// A place in a document that names a file of the package.
public struct FileReference: Sendable, Hashable {
    /// The name as the document has it.
    public let name: String
    /// What the file is for.
    public let use: FileUse
    /// Where it is named.
    public let pointer: JSONPointer

    /// Whether both are the same name for the same use at the same place, code point by code point.
    public static func == (left: Self, right: Self) -> Bool {
        left.use == right.use && left.pointer == right.pointer && left.name.isExactly(right.name)
    }

    /// Hashes the place.
    public func hash(into hasher: inout Hasher) { hasher.combine(pointer) }

    /// Every place of a document that names a file, whatever else is wrong with the document.
    public static func all(in document: JSONValue) -> [FileReference] {
        TextWalk(document, for: .files).files
    }
}

extension OrderDocument {
    /// Every place that names a file: logo, line item images, tracking logos, receipts and return labels.
    public var fileReferences: [FileReference] { FileReference.all(in: json) }

    /// The names of all files that the document needs in its package, each once.
    public var imageNames: Set<String> { Set(fileReferences.map(\.name)) }
}
