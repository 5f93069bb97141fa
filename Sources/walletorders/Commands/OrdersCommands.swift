// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import MerchantAPI
import OrderModel
import OrderStore
import ServiceRuntime

/// `orders list`: a page of orders.
enum OrdersListCommand: Command {
    static let description = CommandDescription(
        "walletorders orders list",
        "List orders.",
        options: [
            CommandLineOption("status", value: "STATUS", "open, completed or cancelled"),
            CommandLineOption("fulfillment-status", value: "STATUS", "orders with a fulfillment of this status"),
            CommandLineOption("order-number", value: "NUMBER", "the number that the customer knows"),
            CommandLineOption("limit", value: "N", "how many at most, 1 to 1000 (default: 100)"),
            CommandLineOption("cursor", value: "TEXT", "goes on where the page before ended"),
            CommandLineOption("json", "print JSON"),
        ] + Settings.options,
        operands: "[TYPE]"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count <= 1 else { throw UsageError("name one order type") }
        guard let limit = Int(arguments["limit"] ?? "100"), (1...1_000).contains(limit) else {
            throw UsageError("--limit is a whole number from 1 to 1000, not \(arguments["limit"] ?? "")")
        }
        let status = try self.word("status", arguments, OrderStatus.allCases.map(\.rawValue))
        let fulfillment = try self.word("fulfillment-status", arguments, FulfillmentStatus.allCases.map(\.rawValue))
        let page = try await StoreAccess.withStore(arguments) { store, configuration in
            let type =
                try arguments.operands.first.map(OrderOperands.type) ?? OrderOperands.onlyType(configuration)
            try await OrderOperands.check(type, store, configuration)
            var query = OrderQuery(orderType: type, limit: limit, cursor: arguments["cursor"])
            query.status = status
            query.fulfillmentStatus = fulfillment
            query.orderNumber = arguments["order-number"]
            do { return try await store.orders(query) } catch let error as StoreError where error.code == .badCursor {
                throw UsageError("--cursor: \(error)")
            }
        }
        if arguments.has("json") {
            Terminal.print(
                json: [
                    "orders": .array(page.heads.map(self.json)), "cursor": page.cursor.map { .string($0) } ?? .null,
                ]
            )
            return
        }
        // A page looks at so many orders only: it may be empty, and others follow.
        if page.heads.isEmpty, page.cursor == nil { Terminal.print("No orders.") }
        for head in page.heads {
            let parts = [head.status] + head.fulfillmentStatuses
            let number = head.orderNumber.map { "  number \($0)" } ?? ""
            Terminal.print(
                Terminal.line(
                    "\(head.key.order.text)\(number)  \(parts.joined(separator: ","))  revision \(head.revision)  "
                        + head.modifiedAt.rfc3339
                )
            )
        }
        if let cursor = page.cursor { Terminal.print("More: --cursor \(cursor)") }
    }

    /// An option that takes one of some words; nil when it is not given.
    private static func word(
        _ name: String,
        _ arguments: CommandDescription.Arguments,
        _ words: [String]
    ) throws -> String? {
        guard let text = arguments[name] else { return nil }
        guard words.contains(text) else {
            throw UsageError("--\(name) is one of \(words.joined(separator: ", ")), not \(text)")
        }
        return text
    }

    private static func json(_ head: OrderHead) -> JSONValue {
        [
            "orderTypeIdentifier": .string(head.key.orderType.text), "orderIdentifier": .string(head.key.order.text),
            "orderNumber": head.orderNumber.map { .string($0) } ?? .null, "status": .string(head.status),
            "fulfillmentStatuses": .array(head.fulfillmentStatuses.map { .string($0) }),
            "revision": .number(JSONNumber(head.revision)), "createdAt": .string(head.createdAt.rfc3339),
            "updatedAt": .string(head.modifiedAt.rfc3339),
        ]
    }
}

/// `orders get`: the document as it is stored.
enum OrdersGetCommand: Command {
    static let description = CommandDescription(
        "walletorders orders get",
        "Print an order's document, without its token.",
        options: [CommandLineOption("json", "print it on one line")] + Settings.options,
        operands: OrderOperands.placeholder
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let order = try await StoreAccess.withStore(arguments) { store, configuration in
            try await store.order(try OrderOperands.key(arguments, configuration))
        }
        guard let order else { throw OrdersCommands.unknown }
        var document = order.document.objectValue ?? JSONObject()
        document["updatedAt"] = .string(order.head.modifiedAt.rfc3339)
        let value = JSONValue.object(document)
        if arguments.has("json") { return Terminal.print(json: value) }
        Terminal.print(json: value, .pretty)
    }
}

/// `orders history`: why a phone does or does not show the latest.
enum OrdersHistoryCommand: Command {
    static let description = CommandDescription(
        "walletorders orders history",
        "Tell an order's story: revisions, events, devices, pushes, fetches, device log.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options,
        operands: OrderOperands.placeholder
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let history = try await StoreAccess.withStore(arguments) { store, configuration in
            let key = try OrderOperands.key(arguments, configuration)
            var options = ChangeOptions()
            options.completeWhenFulfilled =
                configuration.orderTypes.first { $0.identifier == key.orderType }?.completeWhenFulfilled ?? false
            return try await store.history(key, options)
        }
        guard let history else { throw OrdersCommands.unknown }
        if arguments.has("json") { return Terminal.print(json: history.json) }
        for line in HistoryText.lines(history) { Terminal.print(Terminal.line(line)) }
    }
}

/// `orders erase`: takes the personal data away, for good.
enum OrdersEraseCommand: Command {
    static let description = CommandDescription(
        "walletorders orders erase",
        "Erase an order's personal data; its identifier stays taken.",
        options: [
            CommandLineOption("yes", "do it: it can't be undone"), CommandLineOption("json", "print JSON"),
        ] + Settings.options,
        operands: OrderOperands.placeholder
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.has("yes") else { throw UsageError("an erased order is gone for good; add --yes to do it") }
        let (key, isErased) = try await StoreAccess.withStore(arguments) { store, configuration in
            let key = try OrderOperands.key(arguments, configuration)
            return (key, try await store.erase(key))
        }
        guard isErased else { throw OrdersCommands.unknown }
        if arguments.has("json") {
            let names: JSONObject = [
                "orderTypeIdentifier": .string(key.orderType.text), "orderIdentifier": .string(key.order.text),
            ]
            return Terminal.print(json: ["erased": .object(names)])
        }
        Terminal.print("Erased.")
    }
}

/// `orders push`: tells all devices of an order to look, whatever they have.
enum OrdersPushCommand: Command {
    static let description = CommandDescription(
        "walletorders orders push",
        "Push to all devices of an order, also those whose pushes were given up.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options,
        operands: OrderOperands.placeholder
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let (count, registered) = try await StoreAccess.withStore(arguments) { store, configuration in
            let key = try OrderOperands.key(arguments, configuration)
            guard let head = try await store.head(key), !head.isErased else { throw OrdersCommands.unknown }
            let count = try await store.push(key)
            return (count, count > 0 ? count : try await store.history(key)?.devices.count ?? 0)
        }
        if arguments.has("json") { return Terminal.print(json: ["devices": .number(JSONNumber(Int64(count)))]) }
        let reason =
            switch (count, registered) {
            case (0, 0): " None has registered for this order."
            case (0, 1): " One is registered, but APNs no longer knew its push token."
            case (0, _): " \(registered) are registered, but APNs no longer knew their push tokens."
            default: ""
            }
        Terminal.print("\(count) \(count == 1 ? "device is" : "devices are") due to be told.\(reason)")
    }
}

enum OrdersCommands {
    static let unknown = CommandFailure(
        .checkFailed,
        "there is no such order, or it was erased; 'orders list' shows all"
    )
}
