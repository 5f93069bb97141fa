// SPDX-License-Identifier: Apache-2.0
import OrderModel
import ServiceRuntime

/// `order schema`: the form of order.json, for editors and other validators.
enum OrderSchemaCommand: Command {
    static let description = CommandDescription(
        "walletorders order schema",
        "Print the JSON Schema (draft 2020-12) of order.json.",
        options: []
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws { Terminal.print(OrderSchema.text) }
}
