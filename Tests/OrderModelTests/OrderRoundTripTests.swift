// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Typed orders lose nothing: random documents from the tables, damaged ones, and random values.
@Suite struct OrderRoundTripTests {
    private static let lenient = ValidationOptions(unknownMembers: .accept)

    private func expectSame(_ json: JSONValue, _ document: OrderDocument) throws {
        let order = try Order(document)
        let expected = json.written(as: .object(.order))
        // Sorted members, but numbers with the digits that they were written with.
        guard order.serialized(.canonical) == expected.serialized(.canonical) else {
            Issue.record("\(order.json)\nis not\n\(expected)")
            return
        }
        let again = try OrderDocument(order, Self.lenient)
        #expect(try Order(again) == order)
        #expect(again.packageForm() == document.packageForm())
    }

    @Test(arguments: [0, 20, 50, 80, 100] as [UInt64], [0, 10] as [UInt64])
    func `a random document of either version comes back as it went in`(fullness: UInt64, strangeness: UInt64) throws {
        var generator = DocumentGenerator(seed: 7 + fullness + strangeness)
        generator.fullness = fullness
        generator.strangeness = strangeness
        var versions: Set<Int64> = []
        for _ in 0..<(fullness == 100 ? 50 : 500) {
            let json = generator.order()
            let (document, findings) = OrderDocument.validate(json, Self.lenient)
            guard let document else {
                Issue.record("\(InvalidOrderError(findings: findings))")
                continue
            }
            versions.insert(json["schemaVersion"]?.int64Value ?? 0)
            try expectSame(json, document)
        }
        #expect(versions == [1, 2])
    }

    @Test func `what is still valid after damage has a typed form and comes back, too`() throws {
        var generator = DocumentGenerator(seed: 3)
        generator.fullness = 70
        var valid = 0
        for round in 0..<4000 {
            var json = generator.order()
            for _ in 0...(round % 3) { json = DamageTests.damaged(json, &generator.random) }
            guard let document = OrderDocument.validate(json, Self.lenient).document else { continue }
            valid += 1
            #expect(try Order(document).json == json.written(as: .object(.order)))
        }
        #expect(valid > 300)
    }

    @Test func `a random typed order is valid when encoded, and equal when decoded`() throws {
        var generator = OrderGenerator(seed: 11)
        for _ in 0..<2000 {
            let order = try generator.order()
            let document = try OrderDocument(order)
            #expect(try Order(document) == order)
            #expect(try Order(text: order.serialized(.pretty)) == order)
        }
    }

    @Test func `every sample comes back as it went in`() throws {
        for name in ["order-bakery-pickup.json", "order-vapor-minimal.json"] {
            let json = try Fixture.json(name)
            try expectSame(json, try #require(OrderDocument.validate(json).document))
        }
    }
}
