// SPDX-License-Identifier: Apache-2.0

/// How a document is judged.
public struct ValidationOptions: Sendable, Hashable {
    /// What to do about members that Apple's model does not have.
    public enum UnknownMembers: String, Sendable, Hashable, CaseIterable {
        /// An error: most are misspelt.
        case refuse
        /// A warning; they go into the package.
        case warn
        /// Nothing; they go into the package.
        case accept
    }

    /// What to do about members that Apple's model does not have.
    public var unknownMembers: UnknownMembers
    /// Whether a service adds `schemaVersion`, `updatedAt`, `webServiceURL` and `authenticationToken` later, so that the
    /// document may come without them. It stores the files, too, so they are named as its routes can: ``PackagePath``.
    public var isServiceFilled: Bool
    /// Whether nothing was changed since the order was created, so that `updatedAt` has to equal `createdAt`.
    public var isFirstRevision: Bool
    /// The oldest system the document is meant for: what it does not know yet is a note. nil: no such notes.
    public var target: AppleRelease?

    /// The strict reading: a whole document, unknown members refused.
    public init(
        unknownMembers: UnknownMembers = .refuse,
        isServiceFilled: Bool = false,
        isFirstRevision: Bool = false,
        target: AppleRelease? = nil
    ) {
        self.unknownMembers = unknownMembers
        self.isServiceFilled = isServiceFilled
        self.isFirstRevision = isFirstRevision
        self.target = target
    }
}
