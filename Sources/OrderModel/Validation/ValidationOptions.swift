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
    /// document may come without them.
    public var isServiceFilled: Bool
    /// The oldest system the document is meant for: what it does not know yet is a warning. nil: no such warnings.
    public var target: AppleRelease?

    /// The strict reading: a whole document, unknown members refused.
    public init(
        unknownMembers: UnknownMembers = .refuse,
        isServiceFilled: Bool = false,
        target: AppleRelease? = nil
    ) {
        self.unknownMembers = unknownMembers
        self.isServiceFilled = isServiceFilled
        self.target = target
    }
}
