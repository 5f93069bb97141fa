// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// The typed objects against the tables: no field too few, none too many.
@Suite struct OrderObjectTests {
    /// What reflection shows of one typed object: its table, and its properties with their values.
    private struct Shape {
        let table: ObjectDescription
        let properties: [(name: String, value: Any)]
        let keys: [String]
    }

    private func shapes(in value: Any) -> [Shape] {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.flatMap { shapes(in: $0.value) } }
        var result: [Shape] = []
        if let object = value as? any OrderObject {
            result.append(
                Shape(
                    table: type(of: object).table,
                    properties: mirror.children.map { ($0.label ?? "", $0.value) },
                    keys: object.field.objectValue?.keys ?? []
                )
            )
        }
        return mirror.children.reduce(into: result) { $0 += shapes(in: $1.value) }
    }

    private func tables(under kind: FieldKind) -> [ObjectDescription] {
        switch kind {
        case .object(let table): [table] + table.fields.flatMap { tables(under: $0.kind) }
        case .list(let element): tables(under: element)
        case .fulfillment: FulfillmentType.allCases.flatMap { tables(under: .object($0.object)) }
        default: []
        }
    }

    private func full() throws -> Order {
        var generator = DocumentGenerator(seed: 1)
        generator.fullness = 100
        return try Order(json: generator.order())
    }

    @Test func `every table has a typed object with its fields as properties, in its order, and no others`() throws {
        let shapes = shapes(in: try full())
        #expect(Set(shapes.map(\.table.name)) == Set(tables(under: .object(.order)).map(\.name)))
        for shape in shapes {
            let names = shape.table.fields.map(\.name)
            // What tells two objects apart is no property of either.
            #expect(shape.properties.map(\.name) == names.filter { $0 != "fulfillmentType" } + ["unknownFields"])
            #expect(shape.keys == names, "\(shape.table.name) is not written in Apple's order, or not all of it")
        }
    }

    @Test func `required fields are no optionals, and optional ones are`() throws {
        for shape in shapes(in: try full()) {
            for property in shape.properties where property.name != "unknownFields" {
                let isOptional = Mirror(reflecting: property.value).displayStyle == .optional
                let presence = shape.table.field(property.name)?.presence
                #expect(isOptional == (presence != .required), "\(shape.table.name).\(property.name)")
            }
        }
    }

    @Test func `every list of texts in the tables is an enumeration with the same cases`() throws {
        func texts<Choice: FieldChoice>(_: Choice) -> [String] { Choice.allCases.map(\.rawValue) }
        var count = 0
        for shape in shapes(in: try full()) {
            for (name, value) in shape.properties {
                guard case .choice(let names)? = shape.table.field(name)?.kind else { continue }
                let unwrapped: Any = Mirror(reflecting: value).children.first?.value ?? value
                let choice = try #require(unwrapped as? any FieldChoice, "\(shape.table.name).\(name)")
                #expect(Set(texts(choice)) == Set(names), "\(shape.table.name).\(name)")
                count += 1
            }
        }
        #expect(count >= 11)
    }
}
