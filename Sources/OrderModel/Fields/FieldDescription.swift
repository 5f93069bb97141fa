// SPDX-License-Identifier: Apache-2.0

/// One field of an object in Apple's model, as a row of a table. A class, since walks hand rows around all the time.
public final class FieldDescription: Sendable {
    /// When a field has to be there.
    public enum Presence: Sendable, Hashable {
        /// Always.
        case required
        /// Never.
        case optional
        /// In documents of `schemaVersion` 1. Devices of iOS 17 and later take version 2 without it.
        case requiredInVersion1
    }

    /// The member's name.
    public let name: String
    /// What its value has to be.
    public let kind: FieldKind
    /// What the field is for, in a sentence or two.
    public let meaning: String
    /// Whether it has to be there.
    public let presence: Presence
    /// The release that first knows it.
    public let since: AppleRelease
    /// Whether Wallet looks the text up in `order.strings`.
    public let isLocalizable: Bool
    /// How many characters of it a phone shows well; nil where that is not known.
    let textLimit: Int?

    init(
        name: String,
        kind: FieldKind,
        meaning: String,
        presence: Presence,
        since: AppleRelease,
        isLocalizable: Bool
    ) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.presence = presence
        self.since = since
        self.isLocalizable = isLocalizable
        textLimit = TextLimit.characters[name]
    }

    /// A field that has to be there.
    static func required(
        _ name: String,
        _ kind: FieldKind,
        _ meaning: String,
        since: AppleRelease = .ios16,
        localizable: Bool = false
    ) -> FieldDescription {
        FieldDescription(
            name: name,
            kind: kind,
            meaning: meaning,
            presence: .required,
            since: since,
            isLocalizable: localizable
        )
    }

    /// A field that may be left out.
    static func optional(
        _ name: String,
        _ kind: FieldKind,
        _ meaning: String,
        since: AppleRelease = .ios16,
        localizable: Bool = false
    ) -> FieldDescription {
        FieldDescription(
            name: name,
            kind: kind,
            meaning: meaning,
            presence: .optional,
            since: since,
            isLocalizable: localizable
        )
    }

    /// A field that only documents of `schemaVersion` 1 need.
    static func requiredInVersion1(_ name: String, _ kind: FieldKind, _ meaning: String) -> FieldDescription {
        FieldDescription(
            name: name,
            kind: kind,
            meaning: meaning,
            presence: .requiredInVersion1,
            since: .ios16,
            isLocalizable: false
        )
    }

    /// Whether it has to be there in a document of `version`.
    func isRequired(inVersion version: Int) -> Bool {
        switch presence {
        case .required: true
        case .optional: false
        case .requiredInVersion1: version < 2
        }
    }
}
