// SPDX-License-Identifier: Apache-2.0

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

    private let positions: [String: Int]
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
        var positions: [String: Int] = [:]
        for (index, field) in fields.enumerated() { positions[field.name] = index }
        self.positions = positions
        precondition(fields.count <= 64, "one bit a field")
        self.requiredFields = [1, 2].map { version in
            fields.indices.reduce(0) { bits, index in
                fields[index].isRequired(inVersion: version) ? bits | 1 << UInt64(index) : bits
            }
        }
    }

    /// The field of that name.
    public func field(_ name: String) -> FieldDescription? {
        positions[name].map { fields[$0] }
    }

    /// The positions of the fields that a document of `version` has to have, as bits.
    func requiredFields(inVersion version: Int) -> UInt64 { requiredFields[version < 2 ? 0 : 1] }

    /// Where the field of that name stands in ``fields``.
    func position(of name: String) -> Int? { positions[name] }

    /// What to do about a member that the object does not have.
    func advice(forUnknown member: String) -> String {
        if let meant = misnomers[member] { return "Use \(meant)." }
        if let near = NearMiss.find(member, among: fields.lazy.map(\.name)) { return "Did you mean \"\(near)\"?" }
        return "Leave it out; \(name) has \(Self.list(fields.map(\.name)))."
    }

    /// "a, b and c".
    static func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
