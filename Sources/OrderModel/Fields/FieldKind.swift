// SPDX-License-Identifier: Apache-2.0

/// What a field's value has to be.
public indirect enum FieldKind: Sendable {
    /// Any text.
    case text
    /// An opaque name: 1 to 255 bytes without control characters.
    case identifier
    /// One of a list of texts.
    case choice([String])
    /// A URI with a scheme (RFC 3986).
    case url
    /// The base URL of the web service: https, with a host, without query, not ending in `/v1`.
    case webServiceURL
    /// At least 16 characters.
    case token
    /// A name in the form of an order type identifier.
    case orderType
    /// An RFC 3339 date and time with seconds and zone.
    case dateTime
    /// An ISO 8601 duration.
    case duration
    /// `true` or `false`.
    case boolean
    /// A sum of money: decimal text, or a JSON number.
    case amount
    /// An ISO 4217 code.
    case currency
    /// An ISO 3166 code of two letters.
    case country
    /// How many of an item: a JSON number, more than zero.
    case quantity
    /// A JSON number, within bounds when there are any.
    case number(ClosedRange<Int>?)
    /// A whole JSON number, more than zero.
    case positiveInteger
    /// 1, or 2.
    case schemaVersion
    /// The name of a file in the package.
    case file(FileUse)
    /// An object of Apple's model.
    case object(ObjectDescription)
    /// A list.
    case list(FieldKind)
    /// A parcel or a pickup, told apart by `fulfillmentType`.
    case fulfillment

    /// Whether values may look otherwise in a package than in the document that was sent.
    var isRewritten: Bool {
        switch self {
        case .dateTime, .amount, .quantity, .object, .fulfillment: true
        case .list(let element): element.isRewritten
        default: false
        }
    }

    /// Whether values name files, or hold values that do.
    var holdsFiles: Bool {
        switch self {
        case .file: true
        case .list(let element): element.holdsFiles
        default: objects.contains { $0.fileFields != 0 }
        }
    }

    /// Whether values hold localizable texts.
    var holdsTexts: Bool {
        if case .list(let element) = self { return element.holdsTexts }
        return objects.contains { $0.textFields != 0 }
    }

    /// The objects that a value may be.
    private var objects: [ObjectDescription] {
        switch self {
        case .object(let description): [description]
        case .fulfillment: [.shippingFulfillment, .pickupFulfillment]
        default: []
        }
    }
}

/// What a file of the package is for, and so which formats it may have.
public enum FileUse: String, Sendable, Hashable, CaseIterable {
    /// The merchant's logo: PNG or JPEG.
    case logo
    /// A product image: PNG or JPEG.
    case image
    /// A platform's logo next to the tracking link: PNG or JPEG.
    case trackingLogo = "tracking-logo"
    /// A receipt of a transaction: PDF, JPEG or PNG.
    case receipt
    /// A return label to print: PDF, JPEG or PNG.
    case label

    /// Whether Wallet shows it as an image, so that `@2x` and `@3x` variants count.
    public var isImage: Bool { self != .receipt && self != .label }
}
