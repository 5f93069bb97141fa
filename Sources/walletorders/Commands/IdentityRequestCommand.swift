// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import OrderPackage
import ServiceRuntime

/// `identity request`: a new key and the request that Apple's portal makes a certificate of.
enum IdentityRequestCommand: Command {
    static let description = CommandDescription(
        "walletorders identity request",
        "Make a private key and the certificate signing request for Apple's portal.",
        options: [
            CommandLineOption("key", value: "FILE", "the private key to write (default: order.key)"),
            CommandLineOption(
                "output",
                value: "FILE",
                short: "o",
                "the request to write (default: order.certSigningRequest)"
            ),
            CommandLineOption("name", value: "TEXT", "the subject's common name (default: Order Type ID)"),
            CommandLineOption("organization", value: "TEXT", "the subject's organization"),
            CommandLineOption("country", value: "CC", "the subject's country, two letters"),
            CommandLineOption("passphrase-file", value: "FILE", "encrypt the key with the passphrase in this file"),
            CommandLineOption("json", "print the result as JSON"),
        ]
    )

    static func run(_ arguments: CommandDescription.Arguments) async throws {
        let key = arguments["key"] ?? "order.key"
        let output = arguments["output"] ?? "order.certSigningRequest"
        guard key != output else { throw UsageError("--key and --output name the same file") }
        for option in ["name", "organization"] {
            guard let value = arguments[option] else { continue }
            // RFC 5280 A.1: the upper bounds of both.
            guard (1...64).contains(value.unicodeScalars.count) else {
                throw UsageError("--\(option) takes 1 to 64 characters, not \(value.unicodeScalars.count)")
            }
        }
        let country = arguments["country"]
        if let country, country.utf8.count != 2 || !country.utf8.allSatisfy({ (0x41...0x5a).contains($0) }) {
            throw UsageError("--country takes two capital letters such as US, not \(country)")
        }
        do {
            try await runBlocking {
                var passphrase: Secret?
                if let file = arguments["passphrase-file"] {
                    passphrase = try SigningIdentity.Files.passphrase(in: file)
                }
                let request = try IdentityRequest(
                    commonName: arguments["name"] ?? "Order Type ID",
                    organization: arguments["organization"],
                    country: country
                )
                try request.write(key: key, request: output, passphrase: passphrase)
            }
        } catch let error as OrderPackageError where error.code == .badRequest {
            throw UsageError(error.description)
        } catch let error as OrderPackageError {
            throw CommandFailure(.inputUnreadable, error.description)
        }
        if arguments.has("json") {
            let report: JSONValue = ["key": .string(key), "request": .string(output)]
            Terminal.print(String(decoding: report.serialized(), as: UTF8.self))
            return
        }
        Terminal.print(
            """
            \(Terminal.line(key)): the private key. Keep it secret, and keep it: the certificate is of no use without.
            \(Terminal.line(output)): the request. Next:
              1. In Apple's developer portal, under Identifiers, register an Order Type ID.
              2. Under Certificates, choose Order Type ID Certificate, and upload the request.
              3. Sign with the certificate that you get: --identity order.cer --key \(Terminal.line(key))
            """
        )
    }
}
