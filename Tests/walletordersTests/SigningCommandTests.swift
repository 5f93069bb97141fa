// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

/// `package build`, `identity request` and what they do with files.
@Suite("Signing commands")
struct SigningCommandTests {
    /// Runs a shell line in the installation's folder, with `$walletorders` as the program.
    private func shell(
        _ installation: TestInstallation,
        _ line: String,
        _ environment: [String: String] = [:]
    ) async throws -> ChildProcess.Result {
        try await ChildProcess.run(
            "/bin/sh",
            ["-c", "cd \(installation.directory) && \(line)"],
            environment: environment.merging(
                ["PATH": "/usr/bin:/bin", "walletorders": TestInstallation.program, "sign": Self.sign]
            ) { given, _ in given }
        )
    }

    private static let sign =
        "--identity pki/identity.pem --key pki/identity.key --intermediate pki/intermediate.pem"

    private func prepare(_ installation: TestInstallation) async throws {
        let made = try await shell(installation, "$walletorders testpki pki && mkdir -p x/en.lproj x/de.lproj")
        #expect(made.status == 0, "\(made.errorText)")
        try Files.write(Array(SampleOrder.text.utf8), to: installation.directory + "/x/order.json")
        for (language, word) in [("en", "Shop"), ("de", "Laden")] {
            try Files.write(
                Array("\"Shop\" = \"\(word)\";\n".utf8),
                to: "\(installation.directory)/x/\(language).lproj/order.strings"
            )
        }
    }

    @Test("B44 a folder gives the same bytes however it is named, in whatever time zone, with whatever hash seed")
    func deterministic() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            let names = [
                "x", "./x/", "x/.", installation.directory + "/x",
                "../\(installation.directory.split(separator: "/").last ?? "")/x//",
            ]
            for (number, name) in names.enumerated() {
                let built = try await shell(
                    installation,
                    "$walletorders package build \(name) $sign -o \(number).order",
                    [
                        "TZ": ["UTC", "Asia/Tokyo", "America/St_Johns", "Pacific/Kiritimati", "Europe/Berlin"][number],
                        "LC_ALL": number.isMultiple(of: 2) ? "C" : "de_DE.UTF-8",
                        // Unset, each process has a seed of its own.
                        "SWIFT_DETERMINISTIC_HASHING": number == 0 ? "1" : "",
                    ].filter { !$0.value.isEmpty }
                )
                #expect(built.status == 0, "\(built.errorText)")
            }
            let sums = try await shell(
                installation,
                "touch x/order.json && sha256sum *.order | cut -d' ' -f1 | sort -u | wc -l"
            )
            #expect(sums.text == "1\n")
            let later = try await shell(
                installation,
                "sleep 1.1; $walletorders package build x $sign -o - | cmp - 0.order"
            )
            #expect(later.status == 0, "\(later.text)\(later.errorText)")
        }
    }

    @Test(
        "B19 the signing time is the order's updatedAt, moved up to where the certificates begin; the future is told of"
    )
    func signingTime() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            let authority = try TestAuthority.read(from: installation.directory + "/pki")
            let now = WallTime.now().seconds
            for (updatedAt, expected) in [
                (now - 3_600, now - 3_600), (now - 900_000, authority.identity.chainNotBefore),
                (now + 900_000, now + 900_000),
            ] {
                let text = WallTime(seconds: updatedAt).rfc3339
                let order = SampleOrder.text.replacing("2026-01-02T03:04:05Z", with: text)
                try Files.write(Array(order.utf8), to: installation.directory + "/x/order.json")
                let built = try await shell(installation, "$walletorders package build x $sign -o a.order --json")
                #expect(built.status == 0, "\(built.errorText)")
                let package = try Files.read(installation.directory + "/a.order")
                let report = PackageVerifier(trust: [authority.root]).verify(package)
                #expect(report.signingTime == expected, "\(updatedAt - now)")
                let isTold = built.text.contains("signing-time-future")
                #expect(isTold == (updatedAt > now))
                #expect(isTold == report.findings.contains { $0.code == "signing-time-future" })
            }
        }
    }

    @Test("What only the building finds out is an error of the report too, and validation finds what it can before")
    func reportOfRefusal() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            func codes(_ line: String) async throws -> [String] {
                let result = try await shell(installation, line)
                #expect(result.status == 1, "\(result.errorText)")
                let report = try JSONValue(parsing: Array(result.text.utf8))
                #expect(report["valid"]?.boolValue == false && report["package"] == nil)
                return (report["findings"]?.arrayValue ?? []).filter { $0["severity"]?.stringValue == "error" }
                    .compactMap { $0["code"]?.stringValue }
            }
            let build = "$walletorders package build x $sign -o a.order --json"
            let validate = "$walletorders order validate x --json"
            let order = installation.directory + "/x/order.json"
            try Files.write(
                Array(SampleOrder.text.replacing("order.com.example.shop", with: "order.com.example.other").utf8),
                to: order
            )
            #expect(try await codes(build) == ["order-type-mismatch"])
            try Files.write(Array(SampleOrder.text.utf8), to: order)
            for name in ["a\\b.png", "a\nb.png"] {
                let file = installation.directory + "/x/" + name
                try Files.write([1], to: file)
                #expect(try await codes(build) == ["zip-unsafe-path"])
                #expect(try await codes(validate) == ["zip-unsafe-path"])
                try Files.removeTree(file)
            }
            // Below the limit, but for what the package adds.
            let pdf = Array("%PDF-1.7".utf8)
            try Files.write(
                pdf + [UInt8](repeating: 1, count: 4_999_000 - pdf.count - SampleOrder.text.utf8.count),
                to: installation.directory + "/x/a.pdf"
            )
            #expect(try await codes(build) == ["package-too-large"])
            try Files.write(pdf + [UInt8](repeating: 1, count: 3_000), to: installation.directory + "/x/b.pdf")
            #expect(try await codes(build) == ["package-too-large"])
            #expect(try await codes(validate) == ["package-too-large"])
            #expect(!Files.exists(installation.directory + "/a.order"))
        }
    }

    @Test("The report says what was signed, when, and what was left out; for programs in JSON")
    func report() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            let built = try await shell(
                installation,
                "touch x/.DS_Store && $walletorders package build x $sign -o a.order --json"
            )
            #expect(built.status == 0, "\(built.errorText)")
            let report = try JSONValue(parsing: Array(built.text.utf8))
            #expect(report["valid"]?.boolValue == true)
            #expect(report["leftOut"] == [".DS_Store"])
            #expect(report["package"]?["path"]?.stringValue == "a.order")
            #expect(
                report["package"]?["files"] == ["de.lproj/order.strings", "en.lproj/order.strings", "order.json"]
            )
            let bytes = try Files.read(installation.directory + "/a.order")
            #expect(report["package"]?["bytes"] == .number(JSONNumber(Int64(bytes.count))))
            let spoken = try await shell(installation, "$walletorders package build x $sign -o b.order")
            #expect(
                spoken.errorText.contains("left out: .DS_Store")
                    && spoken.text.contains("b.order: \(bytes.count) bytes")
            )
            try Files.write(Array("{}".utf8), to: installation.directory + "/x/order.json")
            let bad = try await shell(installation, "$walletorders package build x $sign -o b.order --json")
            #expect(bad.status == 1)
            let faults = try JSONValue(parsing: Array(bad.text.utf8))
            #expect(faults["valid"]?.boolValue == false && faults["package"] == nil)
            // What stood there before is still whole.
            #expect(try Files.read(installation.directory + "/b.order") == bytes)
        }
    }

    @Test("B42 a package that is written into its own folder stays out of the next, which has the same bytes")
    func outputInFolder() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            for output in ["x/out.order", "x/en.lproj/out.bin"] {
                var packages: [[UInt8]] = []
                for _ in 0..<2 {
                    let built = try await shell(installation, "$walletorders package build x $sign -o \(output)")
                    #expect(built.status == 0, "\(built.errorText)")
                    packages.append(try Files.read("\(installation.directory)/\(output)"))
                }
                #expect(packages[0] == packages[1])
            }
            let listed = try await shell(installation, "unzip -Z1 x/out.order | sort | tr '\\n' ' '")
            #expect(
                listed.text == "de.lproj/order.strings en.lproj/order.strings manifest.json order.json signature ",
                "\(listed.text)"
            )
            let order = try Files.read(installation.directory + "/x/order.json")
            let onto = try await shell(installation, "$walletorders package build x $sign -o x/../x/order.json")
            #expect(onto.status == 64 && onto.errorText.contains("--output"), "\(onto.errorText)")
            #expect(try Files.read(installation.directory + "/x/order.json") == order)
        }
    }

    @Test("When only the identity can't be used, the report says so, and what else was found")
    func unusableIdentity() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            try Files.write([1], to: installation.directory + "/x/en.lproj/note.txt")
            let line = "$walletorders package build x --identity none.p12 -o a.order"
            let built = try await shell(installation, line + " --json")
            #expect(built.status == 66, "\(built.errorText)")
            let report = try JSONValue(parsing: Array(built.text.utf8))
            #expect(report["valid"]?.boolValue == false)
            let codes = report["findings"]?.arrayValue?.compactMap { $0["code"]?.stringValue } ?? []
            #expect(codes.contains("file-unused") && codes.contains("not-signed"), "\(codes)")
            let spoken = try await shell(installation, line)
            #expect(spoken.status == 66 && spoken.errorText.contains("file-unused"), "\(spoken.errorText)")
        }
    }

    @Test("An output that can't be written is told with exit 66, and nothing half remains")
    func outputs() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            for (output, words) in [
                ("none/a.order", "the folder none is not there"), ("pki", "this is a folder"),
                ("/dev/null", "no regular file"), ("null.order", "no regular file"),
            ] {
                let result = try await shell(
                    installation,
                    "ln -sf /dev/null null.order; $walletorders package build x $sign -o \(output)"
                )
                #expect(result.status == 66 && result.errorText.contains(words), "\(output): \(result.errorText)")
            }
            let left = try await shell(installation, "rm null.order; ls; test -c /dev/null")
            #expect(left.status == 0 && left.text == "pki\nx\n", "\(left.text)")
            let full = try await shell(installation, "$walletorders package build x $sign -o - > /dev/full")
            #expect(full.status != 0)
        }
    }

    @Test("An identity is found in a folder by the order's type, and each wrong one is told with exit 66")
    func identities() async throws {
        try await TestInstallation.use { installation in
            try await prepare(installation)
            let made = try await shell(
                installation,
                """
                mkdir ids && cp pki/identity.pem pki/identity.key pki/intermediate.pem ids
                $walletorders testpki --order-type order.com.example.other other
                mkdir others && cp other/identity.pem other/identity.key other/intermediate.pem others
                printf 'hush-7' > pass; printf 'hush-8' > wrong
                openssl pkcs12 -export -legacy -in pki/identity.pem -inkey pki/identity.key -certfile pki/intermediate.pem \
                    -passout file:pass -keypbe PBE-SHA1-RC2-40 -certpbe PBE-SHA1-RC2-40 -out old.p12
                """
            )
            #expect(made.status == 0, "\(made.errorText)")
            let modules = ["OPENSSL_MODULES": "/nowhere"]
            for (options, environment, status, words) in [
                ("--identity ids", [:], 0, ""),
                ("--identity others", [:], 66, "no certificate for order.com.example.shop"),
                ("--identity old.p12 --passphrase-file pass", [:], 0, "identity-legacy-ciphers"),
                ("--identity old.p12 --passphrase-file wrong", [:], 66, "wrong passphrase"),
                ("--identity old.p12 --passphrase-file pass", modules, 66, "legacy provider"),
                ("--identity old.p12 --passphrase-file wrong", modules, 66, "wrong passphrase"),
                ("--identity old.p12 --passphrase-file none", [:], 66, "passphrase file"),
                ("--identity old.p12", [:], 66, "give its passphrase"),
                (
                    "--identity other/identity.pem --key other/identity.key --intermediate pki/intermediate.pem", [:],
                    66, "needs"
                ),
                (
                    "--identity pki/identity.pem --key other/identity.key --intermediate pki/intermediate.pem", [:], 66,
                    "does not belong"
                ),
                ("--identity pki/server.pem --key pki/server.key", [:], 66, "not RSA"),
            ] as [(String, [String: String], Int32, String)] {
                let result = try await shell(
                    installation,
                    "$walletorders package build x \(options) -o a.order",
                    environment
                )
                let text = result.text + result.errorText
                #expect(result.status == status && (words.isEmpty || text.contains(words)), "\(options): \(text)")
                #expect(!text.contains("hush"))
            }
        }
    }

    @Test("A request and its key are made, private and never over others")
    func request() async throws {
        try await TestInstallation.use { installation in
            let made = try await shell(
                installation,
                "umask 000; $walletorders identity request --name 'Example Shop' --country US --organization 'Example Inc.'"
            )
            #expect(made.status == 0 && made.text.contains("portal"), "\(made.errorText)")
            let seen = try await shell(
                installation,
                "stat -c '%a %n' * && openssl req -in order.certSigningRequest -verify -noout -subject"
                    + " && openssl pkey -in order.key -noout"
            )
            #expect(seen.text.contains("600 order.key"), "\(seen.text)\(seen.errorText)")
            #expect((seen.text + seen.errorText).contains("CN = Example Shop, O = Example Inc., C = US"))
            let before = try Files.read(installation.directory + "/order.key")
            for (line, status) in [
                ("identity request", 66), ("identity request -o b.csr", 66), ("identity request --key b.key", 66),
                ("identity request --key a --output a", 64), ("identity request --country usa", 64),
                ("identity request --name ''", 64),
                ("identity request --organization \(String(repeating: "a", count: 65))", 64),
                ("identity request x", 64), ("identity", 64), ("identity request --key none/a -o none/b", 66),
            ] as [(String, Int32)] {
                let result = try await shell(installation, "$walletorders \(line)")
                #expect(result.status == status, "\(line): \(result.errorText)")
            }
            #expect(try Files.read(installation.directory + "/order.key") == before)
            let locked = try await shell(
                installation,
                "printf 'hush-7\\n' > pass; $walletorders identity request --key l.key -o l.csr --passphrase-file pass --json"
                    + " && openssl pkey -in l.key -passin pass:hush-7 -noout && grep -c ENCRYPTED l.key"
            )
            #expect(locked.status == 0 && !locked.text.contains("hush"), "\(locked.text)\(locked.errorText)")
        }
    }
}
