// SPDX-License-Identifier: Apache-2.0

/// How a SignedData (RFC 5652 5.1) is written: what OpenSSL reads over but stricter readers refuse.
package struct CMSForm: Hashable, Sendable {
    /// Whether the file is DER throughout: BER can write one thing in several ways.
    package private(set) var isDER = false
    /// Whether every signer's version is the one that belongs to how it names its certificate: 1 for issuer and serial
    /// number, 3 for a key identifier (RFC 5652 5.3); and SignedData's is one that there is, from 3 on where a signer is named
    /// by key identifier (5.1).
    package private(set) var hasRightVersions = true
    /// Whether every signer's name is tagged as RFC 5652 has it; some writers put a key identifier under an explicit tag.
    package private(set) var hasRightIdentifiers = true
    /// Whether signed attributes stand in DER's order, in which alone all readers agree on what was signed.
    package private(set) var hasSortedAttributes = true
    /// Whether revocation lists travel along.
    package private(set) var hasRevocationLists = false

    /// Looks at the bytes of a signature; anything that can't be followed is left as it is above.
    package init(_ bytes: [UInt8]) {
        self.init(bytes, isDER: DERReader.isStrict(bytes))
    }

    /// - Parameter isDER: what is known already.
    init(_ bytes: [UInt8], isDER: Bool) {
        self.isDER = isDER
        var outer = DERReader(bytes)
        guard let info = outer.next(0x30) else { return }
        var content = DERReader(bytes, info.contents)
        guard content.next(0x06) != nil, let wrapper = content.next(0xa0) else { return }
        var inner = DERReader(bytes, wrapper.contents)
        guard let signedData = inner.next(0x30) else { return }
        var fields = DERReader(bytes, signedData.contents)
        guard let version = fields.next(0x02), fields.next(0x31) != nil, fields.next(0x30) != nil else { return }
        let versions: ClosedRange<UInt8> = 1...5
        if version.contents.count != 1 || !versions.contains(bytes[version.contents.lowerBound]) {
            hasRightVersions = false
        }
        _ = fields.next(0xa0)
        hasRevocationLists = fields.next(0xa1) != nil
        guard let set = fields.next(0x31) else { return }
        var signers = DERReader(bytes, set.contents)
        while let signer = signers.next(0x30) {
            read(signer: signer.contents, bytes, isVersion3: bytes[version.contents].last ?? 0 >= 3)
        }
    }

    /// Takes a strict signature apart into the same without certificates, and the certificates' bytes in their order.
    ///
    /// A reader that knows the certificates needn't read them again, which costs more than the signature's check.
    /// - Returns: nil for anything that isn't one strict SignedData with plain certificates.
    static func split(_ bytes: [UInt8]) -> (signedData: [UInt8], certificates: [[UInt8]])? {
        var outer = DERReader(bytes)
        guard let info = outer.next(0x30), outer.isAtEnd else { return nil }
        var content = DERReader(bytes, info.contents)
        guard let type = content.next(0x06), let wrapper = content.next(0xa0), content.isAtEnd else { return nil }
        var inner = DERReader(bytes, wrapper.contents)
        guard let signedData = inner.next(0x30), inner.isAtEnd else { return nil }
        var fields = DERReader(bytes, signedData.contents)
        var kept: [[UInt8]] = []
        var certificates: [[UInt8]] = []
        while let field = fields.next() {
            // Version, digest algorithms and content come first.
            guard field.tag == 0xa0, kept.count == 3, certificates.isEmpty else {
                kept.append(Array(bytes[field.whole]))
                continue
            }
            var set = DERReader(bytes, field.contents)
            while let certificate = set.next(0x30) { certificates.append(Array(bytes[certificate.whole])) }
            guard set.isAtEnd else { return nil }
        }
        guard fields.isAtEnd else { return nil }
        let bare = DER.sequence([Array(bytes[type.whole]), DER.value(0xa0, DER.sequence(kept))])
        return (bare, certificates)
    }

    private mutating func read(signer: Range<Int>, _ bytes: [UInt8], isVersion3: Bool) {
        var fields = DERReader(bytes, signer)
        guard let version = fields.next(0x02), let identifier = fields.next() else { return }
        switch identifier.tag {
        case 0x30: if Array(bytes[version.contents]) != [1] { hasRightVersions = false }
        case 0x80: if Array(bytes[version.contents]) != [3] || !isVersion3 { hasRightVersions = false }
        default: hasRightIdentifiers = false
        }
        guard fields.next(0x30) != nil, let attributes = fields.next(0xa0) else { return }
        var reader = DERReader(bytes, attributes.contents)
        var last: Range<Int>?
        while let attribute = reader.next() {
            if let last, bytes[attribute.whole].lexicographicallyPrecedes(bytes[last]) { hasSortedAttributes = false }
            last = attribute.whole
        }
    }
}
