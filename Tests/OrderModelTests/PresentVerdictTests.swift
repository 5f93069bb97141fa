// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// What a history says of entries is true of the document that is shown.
@Suite struct PresentVerdictTests {
    private static func verdicts(_ entries: [LogEntry], complete: Bool = false) throws -> [Verdict?] {
        let verdicts = OrderFold(.init(completeWhenFulfilled: complete)).presentVerdicts(try Story.base(), entries)
        return entries.map { verdicts[$0.identifier] }
    }

    private static func adds(_ status: String, _ at: Int64) throws -> LogEntry {
        let before = try Story.base().document
        let first = try #require(before["fulfillments"]?[0])
        let parcel: JSONValue = [
            "fulfillmentType": "shipping", "fulfillmentIdentifier": "b", "status": .string(status),
        ]
        return Story.edit(at, from: before, to: try before.replacing("/fulfillments", with: [first, parcel]))
    }

    @Test func `what had waited and is overruled by the beginning is stale, and final behind a final status`() throws {
        let shipped = try Story.parcel("shipped", 1, of: "b")
        #expect(try Self.verdicts([shipped, Self.adds("processing", 2)]) == [.stale, .applied])
        let delivered = try Story.parcel("delivered", 1, of: "b")
        #expect(try Self.verdicts([delivered, Self.adds("processing", 2)]) == [.applied, .applied])
        let cancelled = try Story.parcel("cancelled", 1, of: "b")
        let late = try Story.parcel("delivered", 2, of: "b")
        #expect(try Self.verdicts([cancelled, late, Self.adds("processing", 3)]) == [.applied, .final, .applied])
        // With its date it has something to say.
        let dated = try Story.parcel("shipped", 1, #""shippedAt":"2026-01-03T10:00:00Z""#, of: "b")
        #expect(try Self.verdicts([dated, Self.adds("processing", 2)]) == [.applied, .applied])
    }

    @Test func `a status is stale once another stands in its place, with what else it said it is not`() throws {
        let entries = try [
            Story.parcel("shipped", 1), Story.parcel("onTheWay", 2, #""carrier":"C""#), Story.parcel("delivered", 3),
            Story.parcel("delivered", 4), Story.parcel("onTheWay", 5),
        ]
        #expect(try Self.verdicts(entries) == [.stale, .applied, .applied, .same, .final])
    }

    @Test func `a removal counts until the thing begins again, and what was removed is stale`() throws {
        let base = try Story.base().document
        let removes = Story.edit(2, from: base, to: try base.replacing("/fulfillments", with: nil))
        let begins = try Story.parcel("open", 3, #""fulfillmentType":"shipping""#)
        let noted = try Story.parcel(nil, 1, #""notes":"N""#)
        #expect(try Self.verdicts([noted, removes]) == [.stale, .applied])
        #expect(try Self.verdicts([noted, removes, begins]) == [.stale, .stale, .applied])
    }

    @Test func `a stated order status is stale while that which follows from the parcels is shown`() throws {
        let stated = try Story.event("erp", 1, "order", #"{"status":"cancelled"}"#)
        let reopened = try Story.event("erp2", 2, "order", #"{"status":"completed"}"#, correction: true)
        let shipped = try Story.parcel("shipped", 3)
        #expect(try Self.verdicts([stated, reopened, shipped], complete: true) == [.stale, .stale, .applied])
        #expect(try Self.verdicts([stated, reopened, shipped]) == [.stale, .applied, .applied])
        let again = try Story.event("erp3", 4, "order", #"{"status":"completed"}"#)
        let all = [stated, reopened, shipped, again]
        #expect(try Self.verdicts(all, complete: true) == [.stale, .stale, .applied, .applied])
    }

    /// The members of the document that bear what an entry says.
    private static func borne(_ change: Change, _ document: JSONValue) -> [String] {
        guard let thing = thing(change.subject, document), let members = change.members else { return [] }
        return members.filter { !$0.value.isNull && thing[$0.name] == $0.value }.map(\.name)
    }

    private static func thing(_ subject: Change.Subject, _ document: JSONValue) -> JSONObject? {
        guard let list = subject.listName, let name = subject.identifierName, let identifier = subject.identifier else {
            return subject == .order ? document.objectValue : document["payment"]?.objectValue
        }
        return document[list]?.arrayValue?.compactMap(\.objectValue).first { $0[name] == .string(identifier) }
    }

    @Test func `applied is what the document bears, and of what only one entry says it is`() throws {
        var tally: [Verdict: Int] = [:]
        for number in 0..<Patience.count(1_000) {
            var generator = try EntryGenerator(seed: UInt64(600_000 + number))
            let entries = OrderFold.sorted(try generator.set())
            let fold = OrderFold(.init(completeWhenFulfilled: generator.random.chance(50)))
            let base = FoldBase(document: generator.base)
            let result = fold.fold(base, entries)
            let verdicts = fold.presentVerdicts(base, entries)
            for entry in entries {
                let verdict = try #require(verdicts[entry.identifier])
                let place = result.verdicts[entry.identifier]
                tally[verdict, default: 0] += 1
                #expect(verdict == place || place == .applied && (verdict == .stale || verdict == .final))
                let isBorne = entry.changes.contains { change in
                    let now = Self.thing(change.subject, result.document)
                    let before = Self.thing(change.subject, base.document)
                    return !Self.borne(change, result.document).isEmpty
                        // It began the thing, took it or a member of it away.
                        || now != nil && before == nil || now == nil && change.members == nil
                        || (change.members ?? JSONObject()).contains { $0.value.isNull && now?[$0.name] == nil }
                }
                let sorts = entry.fulfillmentOrder != nil || entry.returnOrder != nil
                #expect(verdict != .applied || isBorne || sorts, "set \(number), \(entry.identifier)")
                guard verdict == .stale || verdict == .final, entry.kind == .event else { continue }
                for change in entry.changes {
                    for name in Self.borne(change, result.document) where name != "fulfillmentType" {
                        let others = entries.filter { $0.identifier != entry.identifier }.flatMap(\.changes)
                        let value = change.members?[name]
                        let isSaidElsewhere =
                            Self.thing(change.subject, base.document)?[name] == value
                            || others.contains { $0.subject == change.subject && $0.members?[name] == value }
                            || change.subject == .order && name == "status"
                        #expect(isSaidElsewhere, "set \(number), \(entry.identifier) \(name)")
                    }
                }
            }
        }
        if Patience.factor == 1 { #expect(Verdict.allCases.allSatisfy { tally[$0, default: 0] > 20 }) }
    }
}
