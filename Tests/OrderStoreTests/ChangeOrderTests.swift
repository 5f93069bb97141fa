// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct ChangeOrderTests {
        @Test func `an event makes a revision, and its duplicate gets the same answer`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let event = try Samples.event("e1", tracking: "T1")
                let answer = try await fixture.store.apply(event, to: created.key)
                #expect(answer.applied)
                #expect(answer.reason == "applied")
                #expect(answer.revision == 2)
                #expect(Set(answer.changed) == ["/fulfillments/0/status", "/fulfillments/0/trackingNumber"])
                #expect(!answer.duplicate)
                _ = try await fixture.store.apply(try Samples.event("e2", status: "onTheWay"), to: created.key)
                let again = try await fixture.store.apply(event, to: created.key)
                #expect(again.duplicate)
                #expect(again.revision == 2)
                #expect(again.updatedAt == answer.updatedAt)
                #expect(again.changed == answer.changed)
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.head.revision == 3)
                #expect(order.head.fulfillmentStatuses == ["onTheWay"])
                #expect(order.document["fulfillments"]?[0]?["trackingNumber"] == "T1")
                #expect(order.head.digest != created.digest)
                try await fixture.expectInvariants()
            }
        }

        @Test func `members as deep as the doors take them are read back from the log`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("deep")
                var options = ChangeOptions()
                options.validation.unknownMembers = .accept
                // An event that holds it in a parcel has the 64 levels that a request may have.
                let deep = (0..<62).reduce(JSONValue.null) { value, _ in [value] }
                let early = try await fixture.store.patch(created.key, with: ["x": deep], options)
                #expect(early.revision == 2)
                // An event from before the edit folds the whole log; one for a parcel to come waits in the state.
                let late = try Samples.event("late", at: "2026-01-02T04:00:00Z")
                #expect(try await fixture.store.apply(late, to: created.key, options).applied)
                let (event, _) = OrderEvent.parse(
                    ["eventIdentifier": "waits", "fulfillment": ["fulfillmentIdentifier": "p2", "x": deep]],
                    options: options.validation
                )
                let waiting = try await fixture.store.apply(try #require(event), to: created.key, options)
                #expect(waiting.reason == "waiting")
                let more = try Samples.event("more", status: "open", parcel: "p2", type: "shipping")
                #expect(try await fixture.store.apply(more, to: created.key, options).applied)
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.document["x"] == deep && order.document["fulfillments"]?[1]?["x"] == deep)
                #expect(order.document["fulfillments"]?[0]?["status"] == "shipped")
            }
        }

        @Test func `the same event identifier with another body is refused`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                let other = try Samples.event("e1", status: "delivered")
                #expect(await code { _ = try await fixture.store.apply(other, to: created.key) } == .eventReused)
            }
        }

        @Test func `an event is the same with its address or without, and however its moment is written`() async throws
        {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                func event(_ identifier: String, _ extra: JSONObject, status: String = "shipped") throws -> OrderEvent {
                    var json = extra
                    json["eventIdentifier"] = .string(identifier)
                    json["fulfillment"] = ["fulfillmentIdentifier": "parcel-1", "status": .string(status)]
                    let (event, findings) = OrderEvent.parse(.object(json))
                    return try #require(event, "\(findings)")
                }
                let address: JSONObject = [
                    "orderTypeIdentifier": .string(key.orderType.text), "orderIdentifier": .string(key.order.text),
                ]
                func addressed(_ moment: String) -> JSONObject {
                    var json = address
                    json["occurredAt"] = .string(moment)
                    return json
                }
                let moment: JSONObject = ["occurredAt": "2026-01-03T10:00:00Z"]
                let forms: [JSONObject] = [
                    moment, addressed("2026-01-03T10:00:00Z"), ["occurredAt": "2026-01-03T11:00:00+01:00"],
                    ["occurredAt": "2026-01-03T10:00:00.000Z"], addressed("2026-01-03t09:30:00.0000001-00:30"),
                    ["occurredAt": "2026-01-03T10:00:00Z", "correction": false],
                    ["occurredAt": "2026-01-03T10:00:00Z", "correction": nil, "payment": nil],
                ]
                // Each form first, and each of the others after it.
                for (number, first) in forms.enumerated() {
                    #expect(try await !store.apply(try event("e\(number)", first), to: key).duplicate)
                    for other in forms {
                        let again = try await store.apply(try event("e\(number)", other), to: key)
                        #expect(again.duplicate, "\(first), \(other)")
                    }
                }
                // Twins of one request, and events without a moment.
                let twins = try [JSONObject(), address, ["correction": false]].map {
                    KeyedEvent(key: key, event: try event("twin", $0, status: "onTheWay"))
                }
                for answer in await store.apply(twins) { #expect(try answer.get().revision == 3) }
                // What says something else is another event.
                let others: [(JSONObject, status: String)] = [
                    (["occurredAt": "2026-01-03T10:00:01Z"], "shipped"), (moment, "delivered"), ([:], "shipped"),
                    (["occurredAt": "2026-01-03T10:00:00Z", "correction": true], "shipped"),
                ]
                for (other, status) in others {
                    let event = try event("e0", other, status: status)
                    #expect(await code { _ = try await store.apply(event, to: key) } == .eventReused, "\(other)")
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `an event that was kept with the form in which it was sent is known by it`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                let (parsed, _) = OrderEvent.parse([
                    "eventIdentifier": "e", "occurredAt": "2026-01-03T11:00:00+01:00", "correction": false,
                    "orderTypeIdentifier": .string(key.orderType.text), "orderIdentifier": .string(key.order.text),
                    "fulfillment": ["fulfillmentIdentifier": "parcel-1", "status": "shipped"],
                ])
                let event = try #require(parsed)
                #expect(try await fixture.store.apply(event, to: key).applied)
                let digest = SHA256.hash(event.json.serialized(.canonical))
                // As versions before wrote it.
                let age = Statement(
                    "t_age_event",
                    "update order_events set fingerprint = $1::bytea where event_identifier = 'e' and fingerprint <> $1::bytea"
                )
                #expect(try await fixture.client.query(age, [.bytes(digest.bytes)]).affected == 1)
                #expect(try await fixture.store.apply(event, to: key).duplicate)
                let other = try Samples.event("e", status: "delivered", at: "2026-01-03T10:00:00Z")
                #expect(await code { _ = try await fixture.store.apply(other, to: key) } == .eventReused)
                // What is sent by itself and in UTC has that form still: during an upgrade the versions before know it.
                let plain = try Samples.event("plain", at: "2026-01-03T11:00:00Z")
                _ = try await fixture.store.apply(plain, to: key)
                let known = Statement(
                    "t_known_form",
                    "select count(*) from order_events where event_identifier = 'plain' and fingerprint = $1::bytea"
                )
                let form = SHA256.hash(plain.json.serialized(.canonical))
                #expect(try await fixture.number(known, [.bytes(form.bytes)]) == 1)
            }
        }

        @Test func `late and early events end in the same document in any order of arrival`() async throws {
            let events = [
                ("a", "shipped", "T1", "2026-01-03T00:00:01Z"), ("b", "outForDelivery", nil, "2026-01-03T00:00:02Z"),
                ("c", "delivered", nil, "2026-01-03T00:00:03Z"), ("d", "onTheWay", nil, "2026-01-03T00:00:04Z"),
            ]
            try await withStore { fixture in
                var documents: Set<JSONValue> = []
                for round in 0..<6 {
                    var random = SeededRandom(4, round)
                    let created = try await fixture.create("order-\(round)")
                    for (name, status, tracking, moment) in events.shuffled(using: &random) {
                        _ = try await fixture.store.apply(
                            try Samples.event(name, status: status, tracking: tracking, at: moment),
                            to: created.key
                        )
                    }
                    let order = try #require(try await fixture.store.order(created.key))
                    documents.insert(try #require(order.document["fulfillments"]))
                }
                #expect(documents.count == 1)
                #expect(documents.first?[0]?["status"] == "delivered")
                #expect(documents.first?[0]?["trackingNumber"] == "T1")
                try await fixture.expectInvariants()
            }
        }

        @Test func `an update of a parcel that is not there yet waits for it`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let early = try await fixture.store.apply(
                    try Samples.event("e1", status: "shipped", at: "2026-01-03T00:00:02Z", parcel: "parcel-2"),
                    to: created.key
                )
                #expect(early.reason == "waiting")
                #expect(!early.applied)
                #expect(early.revision == 1)
                let begin = try await fixture.store.apply(
                    try Samples.event(
                        "e2",
                        status: "open",
                        at: "2026-01-03T00:00:01Z",
                        parcel: "parcel-2",
                        type: "shipping"
                    ),
                    to: created.key
                )
                #expect(begin.applied)
                #expect(begin.revision == 2)
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.document["fulfillments"]?[1]?["status"] == "shipped")
                try await fixture.expectInvariants()
            }
        }

        @Test func `the history shows what was answered and what the log makes of an event now`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                _ = try await fixture.store.apply(
                    try Samples.event("e2", status: "shipped", at: "2026-01-03T00:00:02Z", parcel: "parcel-2"),
                    to: created.key
                )
                _ = try await fixture.store.apply(
                    try Samples.event(
                        "e1",
                        status: "open",
                        at: "2026-01-03T00:00:01Z",
                        parcel: "parcel-2",
                        type: "shipping"
                    ),
                    to: created.key
                )
                let history = try #require(try await fixture.store.history(created.key))
                #expect(history.events.map(\.identifier) == ["e1", "e2"])
                #expect(history.events.map(\.verdict) == ["applied", "waiting"])
                #expect(history.events.map(\.presentVerdict) == ["applied", "applied"])
            }
        }

        @Test func `a clock that was set back lets neither dates nor marks fall`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                _ = try await store.register(device, pushToken: Samples.token(1), for: created.key)
                _ = try await store.apply(try Samples.event("e1"), to: created.key)
                // As after a step of ten minutes back: everything stored is ahead of the clock.
                try await fixture.run(
                    """
                    update orders set modified_at = modified_at + interval '10 minutes', mark = mark + 600000000;
                    update order_revisions set modified_at = modified_at + interval '10 minutes' where revision = 2;
                    update registrations set mark = mark + 600000000;
                    update devices set mark = mark + 600000000;
                    """
                )
                let type = created.key.orderType
                let before = try #require(try await store.head(created.key))
                let list = try #require(try await store.changedOrders(of: device, orderType: type, since: nil))
                let answer = try await store.apply(try Samples.event("e2", status: "onTheWay"), to: created.key)
                #expect(answer.updatedAt.seconds == before.modifiedAt.seconds + 1)
                let next = try #require(try await store.changedOrders(of: device, orderType: type, since: list.tag))
                #expect(next.orders == [created.key.order])
                try await fixture.expectInvariants()
            }
        }

        @Test func `an event that changes nothing is kept, and makes no revision and no ticket`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                _ = try await fixture.store.apply(
                    try Samples.event("e1", status: "delivered", at: "2026-01-03T00:00:02Z"),
                    to: created.key
                )
                let device = try Samples.device("phone")
                _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                try await fixture.run("update devices set due_at = null, pushed_at = now() + interval '1 day'")
                let answer = try await fixture.store.apply(
                    try Samples.event("e2", status: "onTheWay", at: "2026-01-03T00:00:03Z"),
                    to: created.key
                )
                #expect(answer.reason == "final")
                #expect(answer.revision == 2)
                #expect(try await fixture.store.orderTypesWithDueTickets().isEmpty)
                #expect(
                    try await fixture.store.apply(
                        try Samples.event("e2", status: "onTheWay", at: "2026-01-03T00:00:03Z"),
                        to: created.key
                    ).duplicate
                )
            }
        }

        @Test func `an event from the future is refused`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let event = try Samples.event("e1", at: "2099-01-01T00:00:00Z")
                #expect(await code { _ = try await fixture.store.apply(event, to: created.key) } == .invalidDocument)
            }
        }

        @Test func `an unknown order and an erased one are told apart`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let event = try Samples.event("e1")
                let unknown = try Samples.key("none")
                #expect(await code { _ = try await fixture.store.apply(event, to: unknown) } == .orderNotFound)
                _ = try await fixture.store.erase(created.key)
                #expect(await code { _ = try await fixture.store.apply(event, to: created.key) } == .orderErased)
            }
        }

        @Test func `a patch changes members, keeps identifiers and honours If-Match`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let answer = try await fixture.store.patch(
                    created.key,
                    with: ["statusDescription": "Nearly there"],
                    ChangeOptions(ifMatch: .entityTags([created.entityTag]))
                )
                #expect(answer.revision == 2)
                #expect(answer.isNewRevision)
                #expect(answer.changed == ["/statusDescription"])
                #expect(try await fixture.store.head(created.key)?.entityTag == answer.entityTag)
                let stale = ChangeOptions(ifMatch: .entityTags([created.entityTag]))
                #expect(
                    await code {
                        _ = try await fixture.store.patch(created.key, with: ["statusDescription": "x"], stale)
                    } == .preconditionFailed
                )
                let same = try await fixture.store.patch(created.key, with: ["statusDescription": "Nearly there"])
                #expect(!same.isNewRevision)
                #expect(same.revision == 2)
                #expect(
                    await code {
                        _ = try await fixture.store.patch(created.key, with: ["orderIdentifier": "two"])
                    } == .invalidDocument
                )
                let error = await #expect(throws: StoreError.self) {
                    try await fixture.store.patch(created.key, with: ["status": "nonsense", "merchant": nil])
                }
                #expect(error?.code == .invalidDocument)
                #expect((error?.findings.filter(\.isError).count ?? 0) >= 2)
                try await fixture.expectInvariants()
            }
        }

        @Test func `a replacement may leave the identity out, and late events don't undo it`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                var document = try #require(Samples.json("one").objectValue)
                document.remove("orderIdentifier")
                document.remove("createdAt")
                document["statusDescription"] = "Replaced"
                document["fulfillments"] = [
                    [
                        "fulfillmentIdentifier": "parcel-1", "fulfillmentType": "shipping", "status": "shipped",
                        "carrier": "Example Post",
                    ]
                ]
                let answer = try await fixture.store.replace(created.key, with: .object(document))
                #expect(answer.revision == 2)
                let late = try await fixture.store.apply(
                    try Samples.event("e1", status: "processing", at: "2026-01-02T04:00:00Z"),
                    to: created.key
                )
                #expect(late.reason == "stale")
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.document["createdAt"] == "2026-01-02T03:04:05Z")
                #expect(order.document["fulfillments"]?[0]?["status"] == "shipped")
                #expect(order.document["fulfillments"]?[0]?["carrier"] == "Example Post")
                try await fixture.expectInvariants()
            }
        }

        @Test func `validateOnly answers in full and stores nothing`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let options = ChangeOptions(validateOnly: true)
                let answer = try await fixture.store.apply(try Samples.event("e1"), to: created.key, options)
                #expect(answer.applied)
                #expect(answer.revision == 2)
                let patch = try await fixture.store.patch(created.key, with: ["statusDescription": "x"], options)
                #expect(patch.isNewRevision)
                #expect(try await fixture.store.head(created.key)?.revision == 1)
                #expect(
                    try await fixture.number(Statement("t_events", "select count(*) from order_events")) == 0
                )
            }
        }

        @Test func `an order completes by itself when it is told to`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let options = ChangeOptions(completeWhenFulfilled: true)
                _ = try await fixture.store.apply(
                    try Samples.event("e1", status: "delivered"),
                    to: created.key,
                    options
                )
                #expect(try await fixture.store.head(created.key)?.status == "completed")
                let page = try await fixture.store.orders(
                    OrderQuery(orderType: created.key.orderType, status: "completed")
                )
                #expect(page.heads.map(\.key) == [created.key])
            }
        }

        @Test func `events of many orders are answered in their order, and one bad one spoils none`() async throws {
            try await withStore { fixture in
                var events: [KeyedEvent] = []
                for number in 0..<120 {
                    if number % 10 != 3 { try await fixture.create("order-\(number)") }
                    events.append(
                        KeyedEvent(key: try Samples.key("order-\(number)"), event: try Samples.event("e1"))
                    )
                }
                events.append(
                    KeyedEvent(key: try Samples.key("order-5"), event: try Samples.event("e2", tracking: "T"))
                )
                events.append(KeyedEvent(key: try Samples.key("order-5"), event: try Samples.event("e1")))
                events.append(
                    KeyedEvent(key: try Samples.key("order-6"), event: try Samples.event("e1", status: "issue"))
                )
                var random = SeededRandom(5)
                let answers = await fixture.store.apply(events.shuffled(using: &random))
                #expect(answers.count == events.count)
                let ordered = await fixture.store.apply(events)
                for (number, answer) in ordered.prefix(120).enumerated() {
                    switch answer {
                    case .success(let answer):
                        #expect(number % 10 != 3)
                        #expect(answer.duplicate || number == 6)
                        #expect(answer.revision == 2)
                    case .failure(let error):
                        #expect(number % 10 == 3 || number == 6, "\(error)")
                    }
                }
                #expect(try await fixture.store.head(try Samples.key("order-5"))?.revision == 2)
                try await fixture.expectInvariants()
            }
        }

        @Test func `what is only validated waits for no lock`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                _ = try await fixture.store.register(try Samples.device("phone"), pushToken: Samples.token(1), for: key)
                let over = Signal()
                let all = Statement("t_hold_all", "select 1 from orders, order_documents, devices for update")
                let holder = try await fixture.hold(all, until: over)
                let options = ChangeOptions(validateOnly: true)
                #expect(try await fixture.store.apply(try Samples.event("e"), to: key, options).revision == 2)
                #expect(try await fixture.store.patch(key, with: ["statusDescription": "new"], options).revision == 2)
                let file = OrderFile(name: "a.png", contents: Samples.image(1))
                #expect(try await fixture.store.putFile(file, of: key, options).revision == 2)
                over.fire()
                try await holder.value
                #expect(try await fixture.store.head(key)?.revision == 1)
            }
        }

        @Test func `an order far ahead of the clock has to wait`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                try await fixture.run(
                    """
                    update orders set modified_at = date_trunc('second', now()) + interval '2 hours';
                    update order_revisions set modified_at = (select modified_at from orders)
                    """
                )
                let error = await #expect(throws: StoreError.self) {
                    try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                }
                #expect(error?.code == .aheadOfClock)
                #expect((error?.retryAfter ?? 0) > 3_000)
            }
        }

        @Test func `a long log is folded into its base without changing the document`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                for start in stride(from: 0, to: 260, by: 20) {
                    let events = try (start..<start + 20).map { number in
                        KeyedEvent(
                            key: created.key,
                            event: try Samples.event("e\(number)", status: nil, tracking: "T\(number)")
                        )
                    }
                    for answer in await fixture.store.apply(events) { #expect(try answer.get().applied) }
                }
                let before = try #require(try await fixture.store.package(created.key))
                #expect(try await fixture.store.foldLongLogs(of: created.key.orderType, after: nil) == nil)
                // The rows stay as answers to duplicates; the log is what is not in the base.
                let count = Statement(
                    "t_log_length",
                    """
                    select count(*) from order_events e join order_documents d using (order_type, order_identifier)
                    where e.occurred_at >= d.base_until
                    """
                )
                #expect(try await fixture.number(count) == 200)
                let after = try #require(try await fixture.store.package(created.key))
                #expect(after.head.digest == before.head.digest)
                #expect(after.document.json == before.document.json)
                let stale = try await fixture.store.apply(
                    try Samples.event("old", status: "processing", at: "2026-01-02T04:00:00Z"),
                    to: created.key
                )
                #expect(stale.reason == "stale")
                let next = try await fixture.store.apply(try Samples.event("new", status: "shipped"), to: created.key)
                #expect(next.applied)
                try await fixture.expectInvariants()
            }
        }
    }
}
