// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length. A sender may put
/// such a run wherever an order has a text, so nothing may compare one that way.
@Suite struct CombiningMarksTests {
    /// 160 KB of marks that are in the wrong order, pair by pair. One comparison by Swift's `==` takes three seconds.
    private static let marks = "a" + String(repeating: "\u{301}\u{323}", count: 40_000)

    /// Far above what walks along the bytes take, and below one comparison of the other kind.
    private static let bound = Duration.seconds(1) * Patience.factor

    /// The places of all texts of a document.
    private static func places(_ value: JSONValue, _ place: [String] = []) -> [[String]] {
        switch value {
        case .string: [place]
        case .array(let values): values.indices.flatMap { places(values[$0], place + [String($0)]) }
        case .object(let object): object.flatMap { places($0.value, place + [$0.name]) }
        default: []
        }
    }

    private static func whole() -> JSONValue {
        var generator = DocumentGenerator(seed: 1)
        generator.fullness = 100
        return generator.order()
    }

    private func expectLinear(_ what: String, _ body: () throws -> Void) rethrows {
        let time = try Patience.processorTime(body)
        #expect(time < Self.bound, "\(what): \(time)")
    }

    @Test func `every text of an order may be a run of combining marks`() throws {
        let whole = Self.whole()
        let places = Self.places(whole)
        #expect(places.count > 80)
        let english = [try LocaleIdentifier("en"): StringsTable([.init(key: "a", text: "A")])]
        for place in places {
            let pointer = JSONPointer(tokens: place).description
            let order = try whole.replacing(pointer, with: .string(Self.marks))
            expectLinear(pointer) {
                for isServiceFilled in [false, true] {
                    _ = OrderDocument.validate(order, .init(unknownMembers: .warn, isServiceFilled: isServiceFilled))
                }
                _ = OrderIntake(now: 0, webServiceURL: "https://www.example.com").complete(order)
                _ = FileNameCheck(order, paths: ["logo.png"])
                _ = LocalizationCheck.check(order, english)
                _ = DocumentDiff.pointers(from: whole, to: order)
                _ = OrderEdit(from: whole, to: order)
                _ = try? Order(json: order)
            }
        }
    }

    @Test func `paths and keys of translations may be ones`() throws {
        let image = try Self.whole().replacing("/merchant/logo", with: .string(Self.marks))
            .replacing("/statusDescription", with: .string(Self.marks))
        expectLinear("paths") {
            _ = FileNameCheck(image, paths: ["en.lproj/\(Self.marks).png", Self.marks])
            _ = FileNameCheck.similarNames([Self.marks, "\(Self.marks).lproj/a"])
        }
        let table = StringsTable([.init(key: Self.marks, text: "A"), .init(key: "b", text: Self.marks)])
        let tables = [try LocaleIdentifier("en"): table, try LocaleIdentifier("de"): table]
        expectLinear("keys") {
            _ = LocalizationCheck.check(image, tables)
            #expect(table == table)
        }
        expectLinear("names") {
            for name in [Self.marks, "\(Self.marks).lproj/a.png", "de-\(Self.marks)"] {
                _ = try? PackagePath(name)
                _ = try? LocaleIdentifier(name)
                _ = try? FileName(name)
                _ = try? EventIdentifier(name)
                _ = AppleRelease(name)
                _ = Currency.suggestion(for: name)
                _ = Country.suggestion(for: name)
                _ = Language.isKnown(name)
            }
        }
    }

    @Test func `every object of an order may have a member whose name is one`() throws {
        let whole = Self.whole()
        let objects = Set(Self.places(whole).map { JSONPointer(tokens: $0).parent ?? .root })
        #expect(objects.filter { whole.at($0)?.objectValue != nil }.count > 15)
        for object in objects where whole.at(object)?.objectValue != nil {
            let pointer = object.appending(Self.marks).description
            let order = try whole.replacing(pointer, with: "x")
            expectLinear("\(object)") {
                for unknown in ValidationOptions.UnknownMembers.allCases {
                    let (document, _) = OrderDocument.validate(order, .init(unknownMembers: unknown))
                    #expect((document == nil) == (unknown == .refuse))
                    _ = document?.packageForm()
                }
                _ = DocumentDiff.pointers(from: whole, to: order)
                _ = OrderEdit(from: whole, to: order)
            }
        }
    }

    @Test func `every text and every name of an event may be one`() throws {
        let whole = Self.whole()
        var parcel = try #require(whole["fulfillments"]?[0]?.objectValue)
        parcel["fulfillmentIdentifier"] = "a"
        let event: JSONValue = [
            "eventIdentifier": "e", "occurredAt": "2026-01-31T18:00:00Z", "fulfillment": .object(parcel),
            "orderTypeIdentifier": "order.com.example", "orderIdentifier": "1",
        ]
        var readable = 0
        for place in Self.places(event) {
            let pointer = JSONPointer(tokens: place).description
            let changed = try event.replacing(pointer, with: .string(Self.marks))
            expectLinear(pointer) {
                guard let event = OrderEvent.parse(changed, now: 1_800_000_000_000_000).event else { return }
                readable += 1
                var log = FoldedLog(base: FoldBase(document: whole), OrderFold())
                _ = log.append(LogEntry(event, occurredAt: 1))
                #expect(event == event)
            }
        }
        #expect(readable > 10)
        for subject in ["fulfillment", "order", "return", "payment"] {
            var changed = event.objectValue ?? [:]
            changed["fulfillment"] = nil
            changed[subject] = .object([Self.marks: 1])
            changed[Self.marks] = 1
            expectLinear(subject) { _ = OrderEvent.parse(.object(changed)) }
        }
    }

    @Test func `what waits and what was stated may hold one`() throws {
        let notes: JSONValue = ["returnIdentifier": "r", "carrier": .string(Self.marks)]
        let order: JSONValue = ["statusDescription": .string(Self.marks)]
        try expectLinear("fold") {
            var log = FoldedLog(base: try Story.base(), OrderFold(.init(completeWhenFulfilled: true)))
            for number in 0..<6 {
                let subject = number % 2 == 0 ? "return" : "order"
                let json: JSONValue = ["eventIdentifier": .string("e\(number)")]
                let body = try json.replacing("/" + subject, with: number % 2 == 0 ? notes : order)
                let event = try #require(OrderEvent.parse(body).event)
                _ = log.append(LogEntry(event, occurredAt: Int64(40 - number)))
                _ = log.append(try Story.parcel(number % 2 == 0 ? "shipped" : "onTheWay", Int64(39 - number)))
            }
            #expect(log.result == log.result)
        }
    }

    @Test func `texts that only look alike are two`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed)
        #expect(JSONPointer(tokens: [composed]) != JSONPointer(tokens: [decomposed]))
        #expect(StringsTable.Entry(key: composed, text: "") != .init(key: decomposed, text: ""))
        #expect(Finding.Location.path(composed) != .path(decomposed))
        let items = [composed, decomposed].map {
            JSONValue.object(["title": "A", "quantity": 1, "image": .string($0)])
        }
        let missing = FileNameCheck(["lineItems": .array(items)], paths: []).findings
        #expect(
            missing.map(\.summary) == [
                "error file-missing /lineItems/0/image", "error file-missing /lineItems/1/image",
            ]
        )
    }

    @Test func `a mark behind a separator takes nothing from its meaning`() throws {
        // To Swift, "/" and the mark behind it are one character that is no "/"; so are U+0600 and a "." behind it.
        #expect(FileNameCheck.localizationFolders(["de.lproj/\u{301}a.png"]) == ["de.lproj"])
        #expect(throws: IdentifierError.self) { try PackagePath("de\u{600}.lproj/logo.png") }
        let position = LogEntry(
            try #require(OrderEvent.parse(["eventIdentifier": "\u{301}", "order": ["orderNumber": "1"]]).event),
            occurredAt: 7
        ).position
        #expect(LogPosition(text: position.text) == position)
    }
}
