// SPDX-License-Identifier: Apache-2.0
import OrderModel
import OrderStore
import ServiceRuntime

/// Which order a command is about: `TYPE ORDER`, or `ORDER` alone where there is only one type.
enum OrderOperands {
    static let placeholder = "[TYPE] ORDER"

    /// Reads the operands.
    ///
    /// - Throws: `UsageError`.
    static func key(
        _ arguments: CommandDescription.Arguments,
        _ configuration: ServerConfiguration
    ) throws -> OrderKey {
        let words = arguments.operands
        guard (1...2).contains(words.count), let last = words.last else {
            throw UsageError("name one order: \(self.placeholder)")
        }
        let type = words.count == 2 ? try self.type(words[0]) : try self.onlyType(configuration)
        do { return OrderKey(type, try OrderIdentifier(last)) } catch { throw UsageError("\(last): \(error)") }
    }

    /// Reads an order type identifier.
    ///
    /// - Throws: `UsageError`.
    static func type(_ text: String) throws -> OrderTypeIdentifier {
        do { return try OrderTypeIdentifier(text) } catch { throw UsageError("\(text): \(error)") }
    }

    /// The one type that is configured, or that `run` serves when none is.
    ///
    /// - Throws: `UsageError` when there are several.
    static func onlyType(_ configuration: ServerConfiguration) throws -> OrderTypeIdentifier {
        let types = configuration.orderTypes.map(\.identifier)
        if types.count == 1 { return types[0] }
        if types.isEmpty, configuration.database == nil { return try self.type(TestIdentity.orderType) }
        let names = types.map(\.text).joined(separator: ", ")
        throw UsageError(
            "say which order type, as the first operand"
                + (names.isEmpty ? ", or name the file of settings (--config)" : ": \(names)")
        )
    }

    /// Refuses a type that neither the database nor the configuration knows: it is a slip of the pen, not an empty list.
    ///
    /// - Throws: `CommandFailure` (1).
    static func check(
        _ type: OrderTypeIdentifier,
        _ store: OrderStore,
        _ configuration: ServerConfiguration
    ) async throws {
        let known = try await self.known(store, configuration)
        if !known.contains(type) { throw CommandFailure(.checkFailed, self.unknown([type], known)) }
    }

    /// The types that were ever served or are configured.
    static func known(
        _ store: OrderStore,
        _ configuration: ServerConfiguration
    ) async throws -> Set<OrderTypeIdentifier> {
        Set(try await store.orderTypes() + configuration.orderTypes.map(\.identifier))
    }

    /// Says which types there are instead.
    static func unknown(_ types: [OrderTypeIdentifier], _ known: Set<OrderTypeIdentifier>) -> String {
        let names = known.map(\.text).sorted().joined(separator: ", ")
        return
            "no such order type: \(types.map(\.text).joined(separator: ", ")); known: \(names.isEmpty ? "none" : names)"
    }
}
