// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Collects, along the tables of Apple's objects, the texts that mean something outside the document: file names and
/// localizable texts.
struct TextWalk {
    /// A text that Wallet looks up in `order.strings`.
    struct Localizable {
        /// Object and field: texts of one kind are localized together.
        let kind: String
        let text: String
        let pointer: JSONPointer
    }

    /// What a walk looks for; it passes over everything that can't hold it.
    enum Subject {
        case files
        case texts
    }

    private let subject: Subject
    private(set) var files: [FileReference] = []
    private(set) var texts: [Localizable] = []
    private var place: [String] = []

    /// A walk over an order.
    init(_ document: JSONValue, for subject: Subject) {
        self.subject = subject
        visit(document, .object(.order))
    }

    private mutating func visit(_ value: JSONValue, _ kind: FieldKind) {
        switch kind {
        case .object(let description):
            guard case .object(let object) = value else { return }
            visit(object, description)
        case .fulfillment:
            guard case .object(let object) = value else { return }
            visit(object, FulfillmentShape.type(of: object).object)
        case .list(let element):
            guard case .array(let values) = value else { return }
            for (index, value) in values.enumerated() {
                place.append(String(index))
                visit(value, element)
                place.removeLast()
            }
        case .file(let use):
            guard case .string(let name) = value else { return }
            files.append(FileReference(name: name, use: use, pointer: JSONPointer(tokens: place)))
        default: break
        }
    }

    private mutating func visit(_ object: JSONObject, _ description: ObjectDescription) {
        let wanted = subject == .files ? description.fileFields : description.textFields
        guard wanted != 0 else { return }
        let members = object.members
        for index in members.indices {
            guard let position = description.position(of: members[index].name),
                wanted & (1 << UInt64(position)) != 0
            else { continue }
            let (name, value) = members[index]
            let field = description.fields[position]
            place.append(name)
            if subject == .texts, field.isLocalizable, case .string(let text) = value {
                texts.append(
                    Localizable(kind: description.name + "." + name, text: text, pointer: JSONPointer(tokens: place))
                )
            } else {
                visit(value, field.kind)
            }
            place.removeLast()
        }
    }
}
