// SPDX-License-Identifier: Apache-2.0
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
        ],
        operands: "DIR"
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        guard arguments.operands.count == 1 else { throw UsageError("name one folder: walletorders testpki DIR") }
        let folder = arguments.operands[0]
        if arguments.has("if-missing"), Files.exists(folder + "/identity.p12") {
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
        Terminal.print(
            "\(folder): root.pem intermediate.pem identity.pem identity.key identity.p12 "
                + "(passphrase: \(TestAuthority.defaultPassphrase))"
        )
    }
}
