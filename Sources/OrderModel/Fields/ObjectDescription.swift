// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The table of one object in Apple's model: its fields in Apple's order. Validation, packages, localization and event
/// checks all read these tables and nothing else.
public final class ObjectDescription: Sendable {
    /// Apple's name of the object, which is also the name of its page under documentation/walletorders.
    public let name: String
    /// What the object is, in a sentence.
    public let meaning: String
    /// The release that first knows it.
    public let since: AppleRelease
    /// The fields in Apple's order. Packages are written in this order.
    public let fields: [FieldDescription]
    /// Members that people send though there are none of that name, and what is meant instead.
    public let misnomers: [String: String]

    /// The fields' names as members of an object that they are not the first of, `,"name":`.
    let labels: FieldLabels
    /// One bit for each field whose value may look otherwise in a package than in the document that was sent.
    let rewrittenFields: UInt64
    /// One bit for each field whose value names a file, or holds one that does.
    let fileFields: UInt64
    /// One bit for each field whose value is localizable, or holds one that is.
    let textFields: UInt64
    private let positions: FieldPositions
    private let meant: [ExactKey: String]
    /// The fields' names, to find misspelt ones among them.
    private let names: NearMiss
    /// One bit for each field that has to be there, in version 1 and in version 2.
    private let requiredFields: [UInt64]

    init(
        _ name: String,
        meaning: String,
        since: AppleRelease = .ios16,
        fields: [FieldDescription],
        misnomers: [String: String] = [:]
    ) {
        self.name = name
        self.meaning = meaning
        self.since = since
        self.fields = fields
        self.misnomers = misnomers
        meant = Dictionary(uniqueKeysWithValues: misnomers.map { (ExactKey($0.key), $0.value) })
        precondition(fields.count <= 64, "one bit a field")
        positions = FieldPositions(fields.map(\.name))
        names = NearMiss(fields.lazy.map(\.name))
        labels = FieldLabels(fields.map(\.name))
        rewrittenFields = Self.bits(fields) { $0.kind.isRewritten }
        fileFields = Self.bits(fields) { $0.kind.holdsFiles }
        textFields = Self.bits(fields) { $0.isLocalizable || $0.kind.holdsTexts }
        requiredFields = [1, 2].map { version in Self.bits(fields) { $0.isRequired(inVersion: version) } }
    }

    private static func bits(_ fields: [FieldDescription], where condition: (FieldDescription) -> Bool) -> UInt64 {
        fields.indices.reduce(0) { bits, index in condition(fields[index]) ? bits | 1 << UInt64(index) : bits }
    }

    /// The field of that name.
    public func field(_ name: String) -> FieldDescription? {
        position(of: name).map { fields[$0] }
    }

    /// The positions of the fields that a document of `version` has to have, as bits.
    func requiredFields(inVersion version: Int) -> UInt64 { requiredFields[version < 2 ? 0 : 1] }

    /// Where the field of that name stands in ``fields``.
    func position(of name: String) -> Int? { positions.position(of: name) }

    /// What to do about a member that the object does not have.
    func advice(forUnknown member: String) -> String {
        if let meant = meant[ExactKey(member)] { return "Use \(meant)." }
        var search = names
        if let near = search.find(member) { return "Did you mean \"\(near)\"?" }
        return "Leave it out; \(name) has \(Self.list(fields.map(\.name)))."
    }

    /// "a, b and c".
    static func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
