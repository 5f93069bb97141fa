// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import MerchantAPI
import ServiceRuntime

/// `openapi`: the merchant API for tools.
enum OpenAPICommand: Command {
    static let description = CommandDescription(
        "walletorders openapi",
        "Print the merchant API as an OpenAPI 3.1 document.",
        options: [CommandLineOption("json", "print it on one line")]
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let document = OpenAPI.document(version: Program.version)
        if arguments.has("json") { return Terminal.print(json: document) }
        Terminal.print(String(decoding: document.serialized(.pretty), as: UTF8.self))
    }
}
