// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import ServiceRuntime
import Testing

/// `package verify` and `package inspect`, on what openssl, zip and Python make of a test authority's identity.
@Suite("Package commands")
struct PackageCommandTests {
    /// Makes `good.order` and its unpacked form `good`, and `bare.order`, which lacks the intermediate.
    private func prepare(_ folder: String) async throws {
        try Files.createDirectory(folder + "/good")
        try Files.write(Array(SampleOrder.text.utf8), to: folder + "/good/order.json")
        let script = """
            set -e; cd '\(folder)'; '\(TestInstallation.program)' testpki pki; cd good
            printf '{"order.json":"%s"}' "$(sha256sum order.json | cut -d ' ' -f 1)" > manifest.json
            sign() { openssl cms -sign -binary -in manifest.json -signer ../pki/identity.pem -inkey ../pki/identity.key \
                -outform DER -nosmimecap -out signature "$@"; }
            sign; zip -q -X ../bare.order manifest.json order.json signature
            sign -certfile ../pki/intermediate.pem; zip -q -X ../good.order manifest.json order.json signature
            """
        let made = try await ChildProcess.run("/bin/bash", ["-c", "(\(script)) 2>&1"])
        #expect(made.status == 0, "\(made.text)")
    }

    private func call(_ status: Int32, _ arguments: String...) async throws -> String {
        let result = try await ChildProcess.run(TestInstallation.program, ["package"] + arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errorText)")
        return result.text + result.errorText
    }

    @Test("A package and an unpacked one are verified, with an intermediate by hand where they lack it")
    func verify() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            try await prepare(folder)
            let trust = "--trust=\(folder)/pki/root.pem"
            #expect(
                try await call(0, "verify", folder + "/good.order", trust).hasPrefix("\(folder)/good.order: valid")
            )
            let unpacked = try await call(0, "verify", folder + "/good", trust)
            #expect(unpacked.contains("checked: folder, manifest, signature, certificates, order, files"))
            #expect(try await call(1, "verify", folder + "/good.order").contains("chain-untrusted"))
            let middle = try await call(1, "verify", folder + "/good.order", "--trust=\(folder)/pki/intermediate.pem")
            #expect(middle.contains("is an intermediate") && middle.contains("Fix: Trust the root that issued it"))
            // From a pipe, too, and with the header in front that 'curl -i' saves.
            let bytes = try Files.read(folder + "/good.order")
            func pipe(_ words: [String], _ input: [UInt8]) async throws -> ChildProcess.Result {
                try await ChildProcess.run(TestInstallation.program, ["package"] + words, input: input)
            }
            let piped = try await pipe(["verify", "-", trust], bytes)
            #expect(piped.status == 0 && piped.text.hasPrefix("-: valid"), "\(piped.text)\(piped.errorText)")
            #expect(try await pipe(["inspect", "-"], bytes).text.hasPrefix("-: 3 files"))
            #expect(try await pipe(["verify", "-", "-"], bytes).status == 64)
            let header = Array("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.apple.finance.order\r\n\r\n".utf8)
            let behind = try await pipe(["verify", "-", trust], header + bytes)
            #expect(behind.status == 1 && !behind.text.contains("zip-malformed"), "\(behind.text)")
            #expect(behind.text.contains("\(header.count) bytes stand in front of the archive"), "\(behind.text)")
            #expect(behind.text.contains("an HTTP header was saved with it"))
            // The chain is incomplete until the intermediate is given by hand.
            #expect(try await call(1, "verify", folder + "/bare.order", trust).contains("chain-incomplete"))
            let given = "--intermediate=\(folder)/pki/intermediate.pem"
            #expect(try await call(0, "verify", folder + "/bare.order", trust, given).contains("intermediate-missing"))

            try Files.write(Array(SampleOrder.text.utf8) + [0x0A], to: folder + "/good/order.json")
            let changed = try await call(1, "verify", folder + "/good", trust)
            #expect(changed.contains("not valid: 1 error") && changed.contains("error hash-mismatch at order.json"))
            #expect(changed.contains("    Fix: Build the package anew"))
            try Files.write([1], to: folder + "/good/.DS_Store")
            #expect(try await call(1, "verify", folder + "/good", trust).contains("stray-file"))

            let late = try await call(1, "verify", folder + "/good.order", trust, "--at", "2099-01-01T00:00:00Z")
            #expect(late.contains("certificate-expired"))
            #expect(try await call(64, "verify", folder + "/good.order", "--at", "noon").contains("--at takes a time"))
            #expect(try await call(64, "verify").contains("name the packages"))
            #expect(try await call(66, "verify", folder + "/none.order").contains("none.order"))
            // The others are verified all the same, and each that can't be read has its line.
            let mixed = try await call(66, "verify", "/none/a", folder + "/good.order", "/none/b", trust)
            #expect(mixed.contains("good.order: valid") && mixed.contains("/none/a") && mixed.contains("/none/b"))
            #expect(try await call(66, "verify", folder + "/good.order", "--trust", folder + "/good.order") != "")
            // Apple publishes its certificates in DER, and some editors put a byte order mark in front of PEM text.
            let made = try await ChildProcess.run(
                "/bin/bash",
                [
                    "-c",
                    "cd '\(folder)'; for i in root intermediate; do openssl x509 -in pki/$i.pem -outform DER -out $i.cer; done;"
                        + " (printf '\\xef\\xbb\\xbf'; cat pki/root.pem) > mark.pem",
                ]
            )
            #expect(made.status == 0, "\(made.errorText)")
            for root in ["root.cer", "mark.pem"] {
                _ = try await call(
                    0,
                    "verify",
                    folder + "/bare.order",
                    "--trust=\(folder)/\(root)",
                    "--intermediate=\(folder)/intermediate.cer"
                )
            }
        }
    }

    @Test("With --json each package is one line in the form that every command gives out")
    func json() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            try await prepare(folder)
            let files = ["good", "bare"].map { "\(folder)/\($0).order" }
            let text = try await call(1, "verify", "--json", "--trust=\(folder)/pki/root.pem", files[0], files[1])
            let reports = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(reports.map { $0["file"]?.stringValue } == files)
            #expect(reports.map { $0["valid"]?.boolValue } == [true, false])
            let findings = try #require(reports[1]["findings"]?.arrayValue)
            #expect(findings.contains { $0["code"]?.stringValue == "chain-incomplete" })
            for finding in findings {
                #expect(["error", "warning", "note"].contains(finding["severity"]?.stringValue))
                #expect(finding["path"] != nil && finding["message"] != nil && finding["fix"]?.stringValue != nil)
            }
        }
    }

    @Test("Files, signature, certificates and order are shown of a package and of a folder, right or wrong")
    func inspect() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            try await prepare(folder)
            let text = try await call(0, "inspect", folder + "/good.order")
            for part in ["manifest.json", "order.json", "signer   UID", "embedded CN", "\"orderIdentifier\": \"A-1\""] {
                #expect(text.contains(part), "\(part) is missing in \(text)")
            }
            let value = try JSONValue(parsing: Array(try await call(0, "inspect", "--json", folder + "/good").utf8))
            #expect(
                value["files"]?.arrayValue?.map { $0["path"]?.stringValue } == [
                    "manifest.json", "order.json", "signature",
                ]
            )
            #expect(value["certificates"]?.arrayValue?.count == 2)
            #expect(value["signer"]?["serialNumber"]?.stringValue?.isEmpty == false)
            #expect(value["order"]?["orderIdentifier"]?.stringValue == "A-1")
            try Files.write(Array("PK no archive".utf8), to: folder + "/page.order")
            #expect(try await call(66, "inspect", folder + "/page.order").contains("is no package"))
            _ = try await call(64, "inspect")
            _ = try await call(66, "inspect", folder + "/none")
        }
    }

    @Test("What is inspected shows no token, and nothing that a terminal obeys")
    func inspectSafely() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory + "/x"
            try Files.createDirectory(folder)
            let hostile = "Shop\u{9b}2J\u{202e}pohS\u{2066}"
            let text = SampleOrder.text.replacing(
                #""displayName": "Shop""#,
                with: #""note": "\#(hostile)", "displayName": "Shop""#
            ).replacing("{\"schema", with: #"{"authenticationToken": "0123456789abcdef-token", "schema"#)
            try Files.write(Array(text.utf8), to: folder + "/order.json")
            for arguments in [[folder], ["--json", folder]] {
                let result = try await ChildProcess.run(TestInstallation.program, ["package", "inspect"] + arguments)
                #expect(result.status == 0 && !result.text.contains("0123456789abcdef-token"))
                #expect(result.text.contains("<redacted>"))
                #expect(!result.text.unicodeScalars.contains { ["\u{9b}", "\u{202e}", "\u{2066}"].contains($0) })
                // Nothing is lost for it: JSON has another form for each character.
                #expect(result.text.contains(#"Shop\u009b2J\u202epohS\u2066"#), "\(result.text)")
            }
        }
    }

    @Test("Hostile packages are refused in less than 64 MB of memory")
    func hostile() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let script = #"""
                import json, os, resource, struct, subprocess, sys, time, zipfile, zlib
                program, folder = sys.argv[1:]
                def package(name, files, method=zipfile.ZIP_DEFLATED):
                    path = os.path.join(folder, name + ".order")
                    with zipfile.ZipFile(path, "w", method) as z:
                        for entry, contents in files: z.writestr(entry, contents)
                    return path
                random = os.urandom(9_900_000)
                def shared(count, size=9_900_000):
                    # Many entries that all lie in one place.
                    data = zlib.compressobj(9, zlib.DEFLATED, -15)
                    data = data.compress(random[:100_000] + bytes(size - 100_000)) + data.flush()
                    common = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, 1, len(data), size)
                    out = b"PK\x03\x04" + common + struct.pack("<HH", 1, 0) + b"a" + data
                    start = len(out)
                    for i in range(count):
                        name = b"f%d" % i
                        out += b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHHHII", len(name), *[0] * 6) + name
                    out += b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(out) - start, start, 0)
                    path = os.path.join(folder, "shared.order")
                    open(path, "wb").write(out)
                    return path
                letters = "abcdefghijklmnopqrstuvwxyz"
                languages = [a + b + c for a in letters for b in letters for c in ("", "-Latn")][:900]
                texts = "".join('"k%d";' % i for i in range(700))
                cases = [
                    package("bomb", [("logo.png", bytes(200_000_000))]),
                    package("small-bombs", [("%d.png" % i, bytes(400_000)) for i in range(900)]),
                    package("large", [("logo.png", random)], zipfile.ZIP_STORED),
                    package("large-deflated", [("logo.png", random)]),
                    package("values", [("order.json", "[" + "1," * 500_000 + "1]")]),
                    package("objects", [("order.json", "[" + '{"a":{}},' * 499_000 + "1]")], zipfile.ZIP_STORED),
                    package("names", [("order.json", '{"a":["' + "x" * 9_000_000 + '"' + ',{"a":{}}' * 49_000 + "]}")]),
                    package("deep", [("order.json", "[" * 1_000_000)]),
                    package("faults", [("order.json", '{"lineItems":[' + ",".join(["1"] * 19_000) + "]}")]),
                    package("listing", [("manifest.json", json.dumps({str(i): "" for i in range(4_000)}))]),
                    package("signature", [("signature", b"\x30\x80" * 30_000), ("manifest.json", "{}")]),
                    package("texts", [("en.lproj/order.strings", '"a" = "b";' * 900_000)], zipfile.ZIP_STORED),
                    shared(999),
                    package("path", [("manifest.json", json.dumps({"a/" * 32_000 + "x": "0" * 64}))]),
                    package("languages", [("order.json", "{}")] + [(l + ".lproj/order.strings", texts) for l in languages]),
                    package("entries", [(str(i), b"1") for i in range(1_000)]),
                ]
                peak = 0
                for path in cases:
                    start = time.monotonic()
                    child = subprocess.Popen([program, "package", "verify", path], stdout=subprocess.DEVNULL)
                    _, status, usage = os.wait4(child.pid, 0)
                    took = (time.monotonic() - start) * 1000
                    print("%-16s %4d ms %3d MB" % (os.path.basename(path), took, usage.ru_maxrss // 1024))
                    assert os.waitstatus_to_exitcode(status) == 1, path
                    assert took < 20_000, path
                    peak = max(peak, usage.ru_maxrss)
                assert peak < 64 * 1024, peak
                """#
            try Files.write(Array(script.utf8), to: folder + "/hostile.py")
            let result = try await ChildProcess.run(
                "/usr/bin/env",
                ["python3", folder + "/hostile.py", TestInstallation.program, folder]
            )
            print(result.text)
            #expect(result.status == 0, "\(result.text)\(result.errorText)")
        }
    }
}
