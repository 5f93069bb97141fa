// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderStore
import ServiceRuntime

/// `tickets list`: pushes that were given up.
enum TicketsListCommand: Command {
    static let description = CommandDescription(
        "walletorders tickets list",
        "Count the push tickets, and list those that were given up.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options,
        operands: "[TYPE]"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let type = try TicketsCommands.type(arguments)
        let (counts, dead) = try await StoreAccess.withStore(arguments) { store, configuration in
            if let type { try await OrderOperands.check(type, store, configuration) }
            return (try await store.ticketCounts(), try await store.deadTickets(type, limit: 1_000))
        }
        let shown = counts.filter { type == nil || $0.orderType == type }
        if arguments.has("json") {
            Terminal.print(json: ["types": .array(shown.map(self.json)), "dead": .array(dead.map(self.json))])
            return
        }
        for count in shown {
            Terminal.print(
                "\(count.orderType.text): \(count.due) due, \(count.inFlight) being sent, \(count.dead) given up"
            )
        }
        for ticket in dead {
            let pushed = ticket.pushedAt.map { "last pushed \($0.wallTime.rfc3339)" } ?? "never pushed"
            Terminal.print(
                "  device \(HistoryText.name(ticket.device.text))  \(Terminal.line(ticket.reason ?? "no answer"))  \(pushed)"
                    + (type == nil ? "  \(ticket.orderType.text)" : "")
            )
        }
    }

    private static func json(_ count: TicketCount) -> JSONValue {
        [
            "orderTypeIdentifier": .string(count.orderType.text), "due": .number(JSONNumber(count.due)),
            "inFlight": .number(JSONNumber(count.inFlight)), "dead": .number(JSONNumber(count.dead)),
        ]
    }

    private static func json(_ ticket: DeadTicket) -> JSONValue {
        [
            "orderTypeIdentifier": .string(ticket.orderType.text),
            "device": .string(HistoryText.name(ticket.device.text)),
            "reason": ticket.reason.map { .string($0) } ?? .null,
            "pushedAt": ticket.pushedAt.map { .string($0.wallTime.rfc3339) } ?? .null,
        ]
    }
}

/// `tickets redrive`: makes pushes that were given up due again.
enum TicketsRedriveCommand: Command {
    static let description = CommandDescription(
        "walletorders tickets redrive",
        "Send pushes again that were given up, of one order type or all.",
        options: [CommandLineOption("json", "print JSON")] + Settings.options,
        operands: "[TYPE]"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let type = try TicketsCommands.type(arguments)
        let count = try await StoreAccess.withStore(arguments) { store, configuration in
            if let type { try await OrderOperands.check(type, store, configuration) }
            var count = 0
            for counted in try await store.ticketCounts() where type == nil || counted.orderType == type {
                // No more than were given up at the start: some may be given up again meanwhile, without end.
                var left = Int(counted.dead)
                while left > 0 {
                    let driven = try await store.redrive(counted.orderType, device: nil)
                    if driven == 0 { break }
                    count += driven
                    left -= driven
                }
            }
            return count
        }
        if arguments.has("json") { return Terminal.print(json: ["redriven": .number(JSONNumber(Int64(count)))]) }
        Terminal.print("\(count) \(count == 1 ? "push is" : "pushes are") due again.")
    }
}

enum TicketsCommands {
    /// The type that the operand names, if there is one.
    static func type(_ arguments: CommandDescription.Arguments) throws -> OrderTypeIdentifier? {
        guard arguments.operands.count <= 1 else { throw UsageError("name one order type") }
        return try arguments.operands.first.map(OrderOperands.type)
    }
}
