// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime

/// `testpki`: a certificate authority and an identity laid out exactly like Apple's, for tests.
enum TestPKICommand: Command {
    static let description = CommandDescription(
        "walletorders testpki",
        "Make a test authority and an order-type identity laid out like Apple's.",
        options: [
            CommandLineOption("order-type", value: "ID", "the order type (default: order.com.example.shop)"),
            CommandLineOption("if-missing", "do nothing when the folder holds an authority already"),
            CommandLineOption("json", "print JSON"),
        ],
        operands: "DIR"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name one folder: walletorders testpki DIR") }
        let folder = arguments.operands[0]
        if arguments.has("if-missing"), Files.exists(folder + "/identity.p12") {
            if arguments.has("json") { return Terminal.print(json: ["folder": .string(folder), "made": false]) }
            Terminal.print("\(folder): holds an authority already")
            return
        }
        let type: OrderTypeIdentifier
        do { type = try OrderTypeIdentifier(arguments["order-type"] ?? TestIdentity.orderType) } catch {
            throw UsageError("--order-type: \(error)")
        }
        do {
            try await runBlocking { try TestAuthority.make(orderType: type).write(to: folder) }
        } catch {
            throw CommandFailure(.inputUnreadable, "\(error)")
        }
        let files = ["root.pem", "intermediate.pem", "identity.pem", "identity.key", "identity.p12"]
        if arguments.has("json") {
            return Terminal.print(
                json: [
                    "folder": .string(folder), "made": true, "orderTypeIdentifier": .string(type.text),
                    "files": .array(files.map { .string($0) }),
                    "passphrase": .string(TestAuthority.defaultPassphrase),
                ]
            )
        }
        Terminal.print(
            "\(folder): \(files.joined(separator: " ")) (passphrase: \(TestAuthority.defaultPassphrase))"
        )
    }
}
