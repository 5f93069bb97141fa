// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import ServiceRuntime
import Simulators

/// Plays one story and checks each step for what it must bring about.
struct StoryPlayer {
    let story: Story
    let stage: Stage

    /// Plays the nine steps.
    ///
    /// - Throws: `CommandFailure` (1) that says what was expected and what came.
    func play() async throws {
        Terminal.print("\n\(self.story.title)")
        let created = try await self.step(1, "checkout creates the order with its images") { try await self.create() }
        let details = try await self.step(2, "the hand-off for the phone") { try await self.handOff(created) }
        try await self.step(3, "the iPhone fetches the package, verifies it, and registers") {
            try await self.add(details)
        }
        let pushed = self.stage.apns.count(of: self.stage.phone.pushToken)
        try await self.step(4, self.story.change.words) { try await self.post(self.story.change, details) }
        try await self.step(5, "the worker pushes over HTTP/2 with the order type's certificate") {
            try await self.push(details, after: pushed)
        }
        try await self.step(6, "the iPhone asks what changed, fetches the new package, verifies it") {
            try await self.update(details, self.story.change)
        }
        try await self.step(7, "a conditional GET brings nothing new") { try await self.conditional(details) }
        try await self.step(8, self.story.completion.words + ", and the order completes") {
            try await self.complete(details)
        }
        try await self.step(9, "the customer removes the order; a further change pushes nothing") {
            try await self.remove(details)
        }
    }

    /// Runs a step and prints what was checked.
    private func step<Result>(
        _ number: Int,
        _ words: String,
        _ body: () async throws -> (Result, [String])
    ) async throws -> Result {
        do {
            let (result, checks) = try await body()
            Terminal.print("  \(number) \(words)")
            for check in checks { Terminal.print("      ✓ \(Terminal.line(check))") }
            return result
        } catch {
            Terminal.print("  \(number) \(words)\n      ✗ \(Terminal.line("\(error)"))")
            throw CommandFailure(.checkFailed, "step \(number) of \"\(self.story.title)\" failed: \(error)")
        }
    }

    /// A step that gives nothing on.
    private func step(_ number: Int, _ words: String, _ body: () async throws -> [String]) async throws {
        try await self.step(number, words) { ((), try await body()) }
    }

    // MARK: The steps

    private func create() async throws -> (JSONValue, [String]) {
        let boundary = "walletorders-\(SecureRandom.uuid())"
        var body = Self.part("order", Array(self.story.order.utf8), boundary)
        for (path, contents) in self.story.files { body += Self.part(path, contents, boundary) }
        body += Array("--\(boundary)--\r\n".utf8)
        let answer = try await self.stage.call(
            .post,
            "/api/v1/orders",
            body,
            contentType: "multipart/form-data; boundary=\(boundary)"
        )
        try self.expect(answer.status == 201, "status 201", "\(answer.status) \(Self.text(answer.json))")
        try self.expect(answer.json["revision"]?.int64Value == 1, "revision 1", Self.text(answer.json["revision"]))
        var checks = ["201, revision 1, updatedAt \(answer.json["updatedAt"]?.stringValue ?? "?")"]
        for warning in answer.json["warnings"]?.arrayValue ?? [] {
            checks.append("a warning, as it should be: \(warning["message"]?.stringValue ?? "")")
        }
        return (answer.json, checks)
    }

    private func handOff(_ created: JSONValue) async throws -> (OrderDetails, [String]) {
        let details = try OrderDetails(created)
        let again = try await self.stage.call(.get, self.path(details) + "/handoff")
        try self.expect(
            again.status == 200 && again.json["orderDetails"] == created["orderDetails"],
            "the same four values from …/handoff",
            "\(again.status)"
        )
        return (
            details,
            [
                "orderTypeIdentifier  \(details.orderType.text)", "orderIdentifier      \(details.order.text)",
                "webServiceURL        \(created["orderDetails"]?["webServiceURL"]?.stringValue ?? "")",
                "authenticationToken  \(details.authenticationToken)",
            ]
        )
    }

    private func add(_ details: OrderDetails) async throws -> [String] {
        guard case .package(let order, let report) = try await self.stage.phone.add(details) else {
            throw IPhoneError("expected a package, got 304")
        }
        try await self.keep(order.package, "1-created")
        var checks = ["the package verifies: \(report.checked.joined(separator: ", "))"]
        let names = Set(report.files.map(\.path))
        for (path, _) in self.story.files {
            try self.expect(
                names.contains(path),
                "the file \(path) in the package",
                names.sorted().joined(separator: ", ")
            )
        }
        checks.append("\(report.files.count) files, \(order.package.count) bytes")
        let isNew = try await self.stage.phone.register(details)
        try self.expect(isNew, "201 for the first registration", "200")
        let isNewAgain = try await self.stage.phone.register(details)
        try self.expect(!isNewAgain, "200 for the second registration", "201")
        return checks + ["registered: 201, and 200 the second time"]
    }

    private func post(_ turn: Story.Turn, _ details: OrderDetails) async throws -> [String] {
        var checks: [String] = []
        for (fulfillment, members) in turn.changes {
            var change = members
            change["fulfillmentIdentifier"] = .string(fulfillment)
            let event: JSONValue = [
                "eventIdentifier": .string(SecureRandom.uuid()), "fulfillment": .object(change),
            ]
            let answer = try await self.stage.call(.post, self.path(details) + "/events", event.serialized())
            try self.expect(
                answer.status == 200 && answer.json["applied"]?.boolValue == true,
                "the event applied",
                "\(answer.status) \(Self.text(answer.json))"
            )
            let again = try await self.stage.call(.post, self.path(details) + "/events", event.serialized())
            try self.expect(
                again.json["duplicate"]?.boolValue == true && again.json["revision"] == answer.json["revision"],
                "the same answer for the same event again",
                Self.text(again.json)
            )
            checks.append(
                "\(fulfillment): applied, revision \(answer.json["revision"]?.int64Value ?? 0); sent twice, applied once"
            )
        }
        return checks
    }

    private func push(_ details: OrderDetails, after count: Int) async throws -> [String] {
        let token = self.stage.phone.pushToken
        let started = MonotonicTime.now()
        do { _ = try await self.stage.apns.waitForPush(to: token, after: count, deadline: .seconds(5)) } catch {
            throw IPhoneError("expected a push within 5 s, none came")
        }
        let waited = MonotonicTime.now() - started
        guard let push = self.stage.apns.recent.last(where: { $0.token == token }) else {
            throw IPhoneError("expected the push in the simulator's book")
        }
        try self.expect(push.topic == details.orderType.text, "the topic \(details.orderType.text)", push.topic)
        try self.expect(push.body == Array("{}".utf8), "the body {}", String(decoding: push.body, as: UTF8.self))
        let refused = try await self.pushWithoutCertificate(details)
        try self.expect(refused == 403, "403 without a client certificate", "\(refused)")
        return [
            "APNs took it: topic, push type and the body {} are right (waited \(waited.nanoseconds / 1_000_000) ms)",
            "the same push without the client certificate: 403",
        ]
    }

    /// Pushes as a stranger would: TLS, HTTP/2, no client certificate.
    private func pushWithoutCertificate(_ details: OrderDetails) async throws -> Int {
        guard case .ip(let host, let port) = self.stage.application.addresses.apns else { return 0 }
        let connection = try await HTTP2ClientConnection.connect(
            host: host,
            port: port,
            tls: try TLSClientTrust.context(self.stage.testIdentity.authority.root, alpn: ["h2"]),
            loop: self.stage.application.loops.next(),
            deadline: .seconds(5)
        )
        let request = HTTP2Request(
            method: .post,
            authority: "\(host):\(port)",
            path: "/3/device/\(self.stage.phone.pushToken)",
            headers: [.init("apns-topic", details.orderType.text)],
            body: Array("{}".utf8)
        )
        let response = try await connection.send(request, deadline: .seconds(5))
        await connection.close()
        return response.status.code
    }

    private func update(_ details: OrderDetails, _ turn: Story.Turn) async throws -> [String] {
        let before = await self.stage.phone.order(details)?.document
        let changed = try await self.stage.phone.changedOrders(like: details)
        try self.expect(
            changed.contains(details.order.text),
            "the order in the list of changed ones",
            changed.joined(separator: ", ")
        )
        guard case .package(let order, _) = try await self.stage.phone.fetch(details) else {
            throw IPhoneError("expected a new package, got 304")
        }
        try await self.keep(order.package, "2-changed")
        for (identifier, members) in turn.changes {
            let shown = order.document["fulfillments"]?.arrayValue?
                .first { $0["fulfillmentIdentifier"]?.stringValue == identifier }
            for (name, value) in members {
                try self.expect(
                    shown?[name] == value,
                    "\(identifier).\(name) = \(Self.text(value))",
                    Self.text(shown?[name])
                )
            }
        }
        let (old, new) = (before?["updatedAt"]?.stringValue ?? "", order.document["updatedAt"]?.stringValue ?? "")
        try self.expect(new > old, "an updatedAt later than \(old)", new)
        let names = turn.changes.map { "\($0.fulfillment)'s \($0.members.keys.joined(separator: ", "))" }.joined(
            separator: ", "
        )
        return ["the list names it; the new package verifies and shows \(names); updatedAt rose to \(new)"]
    }

    private func conditional(_ details: OrderDetails) async throws -> [String] {
        guard case .notModified = try await self.stage.phone.fetch(details) else {
            throw IPhoneError("expected 304, got a package")
        }
        let changed = try await self.stage.phone.changedOrders(like: details)
        try self.expect(
            !changed.contains(details.order.text),
            "the order not in the list of changed ones",
            changed.joined(separator: ", ")
        )
        return ["304 without a body; the list names it no more"]
    }

    private func complete(_ details: OrderDetails) async throws -> [String] {
        let token = self.stage.phone.pushToken
        let pushed = self.stage.apns.count(of: token)
        var checks = try await self.post(self.story.completion, details)
        do { _ = try await self.stage.apns.waitForPush(to: token, after: pushed, deadline: .seconds(5)) } catch {
            throw IPhoneError("expected a push within 5 s, none came")
        }
        checks += try await self.update(details, self.story.completion)
        let status = await self.stage.phone.order(details)?.document["status"]?.stringValue
        try self.expect(status == "completed", "the status completed", status ?? "none")
        return checks + ["the phone was told, and shows the order completed"]
    }

    private func remove(_ details: OrderDetails) async throws -> [String] {
        // A push that is still owed for the last change must not be taken for one of the next.
        try await self.awaitNoDueTickets()
        try await self.stage.phone.remove(details)
        let pushed = self.stage.apns.count(of: self.stage.phone.pushToken)
        let patch: JSONValue = ["statusDescription": "Thank you!"]
        let answer = try await self.stage.call(.patch, self.path(details), patch.serialized())
        try self.expect(
            answer.status == 200,
            "200 for the further change",
            "\(answer.status) \(Self.text(answer.json))"
        )
        let changed = try await self.stage.phone.changedOrders(like: details)
        try self.expect(changed.isEmpty, "an empty list (204)", changed.joined(separator: ", "))
        try await self.awaitNoDueTickets()
        let count = self.stage.apns.count(of: self.stage.phone.pushToken)
        try self.expect(count == pushed, "no further push", "\(count - pushed)")
        return ["unregistered; the change made a revision and no push; the list is empty (204)"]
    }

    /// Waits until no ticket of the story is due or under way any more.
    private func awaitNoDueTickets() async throws {
        for _ in 0..<100 {
            if try await self.stage.owedPushes() <= self.stage.owedBefore { return }
            try await sleep(for: .milliseconds(50))
        }
        throw IPhoneError("expected all push tickets settled within 5 s")
    }

    // MARK: Little things

    private func path(_ details: OrderDetails) -> String {
        "/api/v1/orders/\(details.orderType.text)/\(details.order.text)"
    }

    /// Keeps a package, so that other tools can look at it.
    private func keep(_ package: [UInt8], _ name: String) async throws {
        let path = "\(self.stage.folder)/\(self.story.title.split(separator: " ")[1].lowercased())-\(name).order"
        try await runBlocking { try Files.write(package, to: path) }
    }

    private func expect(_ holds: Bool, _ expected: String, _ came: @autoclosure () -> String) throws {
        if !holds { throw IPhoneError("expected \(expected), got \(came())") }
    }

    private static func text(_ value: JSONValue?) -> String {
        value.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "nothing"
    }

    private static func part(_ name: String, _ contents: [UInt8], _ boundary: String) -> [UInt8] {
        let head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n\r\n"
        return Array(head.utf8) + contents + [0x0d, 0x0a]
    }
}
