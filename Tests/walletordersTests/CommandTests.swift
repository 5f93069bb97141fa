// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

/// The commands that need no server, by their exit codes.
@Suite("Commands")
struct CommandTests {
    @Test("A package is built, verified and shown; what can't be is told with the exit code that says why")
    func packages() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            func call(_ status: Int32, _ arguments: [String], input: String = "") async throws -> String {
                let result = try await ChildProcess.run(
                    TestInstallation.program,
                    arguments,
                    input: Array(input.utf8)
                )
                #expect(result.status == status, "\(arguments): \(result.text)\(result.errorText)")
                return result.text + result.errorText
            }
            let root = folder + "/pki/root.pem"
            _ = try await call(0, ["testpki", folder + "/pki"])
            _ = try await call(66, ["testpki", folder + "/pki"])
            _ = try await call(0, ["testpki", "--if-missing", folder + "/pki"])
            let kept = try await call(0, ["testpki", "--if-missing", "--json", folder + "/pki"])
            #expect(kept == "{\"folder\":\"\(folder)/pki\",\"made\":false}\n")
            let made = try await call(0, ["testpki", "--json", folder + "/other"])
            #expect(made.contains("\"made\":true") && made.contains("\"root.pem\""), "\(made)")
            try Files.createDirectory(folder + "/source")
            try Files.write(Array(SampleOrder.text.utf8), to: folder + "/source/order.json")
            let build = [
                "package", "build", folder + "/source", "--identity", folder + "/pki/identity.pem", "--key",
                folder + "/pki/identity.key", "--intermediate", folder + "/pki/intermediate.pem", "-o",
            ]
            let package = folder + "/out.order"
            _ = try await call(0, build + [package])
            #expect(try await call(0, ["package", "verify", package, "--trust", root]).contains("valid"))
            #expect(try await call(1, ["package", "verify", package]).contains("chain-untrusted"))
            #expect(try await call(0, ["package", "inspect", package]).contains("manifest.json"))
            #expect(try await call(66, ["package", "inspect", root]).contains("is no package"))
            #expect(try await call(1, ["package", "verify", root, "--trust", root]).contains("not valid"))
            #expect(try await call(66, ["package", "verify", package, "--trust", package]).contains(package))
            _ = try await call(66, ["package", "verify", folder + "/missing"])
            _ = try await call(64, ["package", "verify"])
            _ = try await call(66, ["package", "build", folder + "/source", "--identity", root, "-o", package])
            _ = try await call(64, ["package", "build", folder + "/source", "-o", package])

            #expect(try await call(0, ["order", "validate", "-"], input: SampleOrder.text).contains("valid"))
            #expect(try await call(0, ["order", "validate", folder + "/source"]).contains("strings"))
            #expect(try await call(1, ["order", "validate", "--json", "-"], input: "{}").contains("missing-member"))
            #expect(try await call(1, ["order", "validate", "-"], input: "{").contains("json-syntax"))
            _ = try await call(66, ["order", "validate", folder + "/missing"])
            try Files.write(Array("{}".utf8), to: folder + "/source/order.json")
            #expect(try await call(1, build + [package]).contains("nothing was signed"))
        }
    }

    @Test func `an identity that can't sign now is a fault of the configuration`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let type = try OrderTypeIdentifier("order.com.example.shop")
            let authority = try TestAuthority.make(orderType: type)
            try authority.write(to: folder + "/pki")
            let now = WallTime.now().seconds
            let cases: [(Int64, Int64, String?)] = [
                (now - 10 * 86_400, now - 3_600, "the certificate has expired"),
                (now + 3_600, now + 86_400, "the certificate is not valid yet"), (now - 86_400, now + 86_400, nil),
            ]
            for (start, end, fault) in cases {
                var template = TestAuthority.leafTemplate(type, now: now)
                template.notBefore = start
                template.notAfter = end
                let identity = try authority.issue(template)
                try Files.write(identity.certificate.pem() + identity.key.pem(), to: folder + "/shop.pem")
                let text = """
                    {"orderTypes": {"order.com.example.shop": {"identity": "\(folder)/shop.pem",
                        "intermediates": "\(folder)/pki/intermediate.pem", "webServiceURL": "https://w.example.com/"}}}
                    """
                try Files.write(Array(text.utf8), to: folder + "/config.json")
                let result = try await installation.run(["config", "validate", "--config", folder + "/config.json"])
                #expect(result.status == (fault == nil ? 0 : 78), "\(result.text)\(result.errorText)")
                if let fault {
                    #expect(result.errorText.contains("orderTypes.order.com.example.shop.identity: \(fault)"))
                }
            }
        }
    }

    @Test("An unknown key of the file, and an identity that is not there, are told with exit 78")
    func configuration() async throws {
        try await TestInstallation.use { installation in
            let file = installation.directory + "/config.json"
            func validate(_ text: String) async throws -> ChildProcess.Result {
                try Files.write(Array(text.utf8), to: file)
                return try await installation.run(["config", "validate", "--config", file])
            }
            let unknown = try await validate("{\"device\": {\"listne\": \"127.0.0.1:0\"}}")
            #expect(unknown.status == 78 && unknown.errorText.contains("did you mean device.listen?"))
            let missing = try await validate(
                """
                {"orderTypes": {"order.com.example.shop": {"identity": "/nowhere.p12",
                                                           "webServiceURL": "https://wallet.example.com/"}}}
                """
            )
            #expect(missing.status == 78)
            #expect(missing.errorText.contains("/nowhere.p12") && !missing.errorText.contains("CommandFailure"))
            let none = try await installation.run(["config", "show", "--config", file + ".missing"])
            #expect(none.status == 66)

            // A variable that is set to nothing names no file.
            let unset = try await ChildProcess.run(
                TestInstallation.program,
                ["config", "validate", "--data-dir", installation.data],
                environment: ["PATH": "/usr/bin:/bin", "WALLETORDERS_CONFIG": ""]
            )
            #expect(unset.status == 0, "\(unset.errorText)")
        }
    }
}
