// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

/// A package that other tools made, by a script that runs in a folder with the package's parts.
struct ForeignPackage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [String]
    let script: String

    init(_ title: String, _ expected: [String], _ script: String) {
        testDescription = title
        self.expected = expected
        self.script = script
    }

    /// In `source` lie order.json and logo.png, beside it leaf.pem (certificate and key), intermediate.pem, root.pem and
    /// second.pem (another leaf with key).
    func bytes() async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        let parts = PackageParts()
        try folder.write(parts.order, to: "source/order.json")
        try folder.write(parts.files[0].1, to: "source/logo.png")
        try folder.write(authority.identity.certificate.pem() + authority.identity.key.pem(), to: "leaf.pem")
        try folder.write(authority.intermediate.pem(), to: "intermediate.pem")
        try folder.write(authority.root.pem(), to: "root.pem")
        let second = try authority.identity(for: try Fixtures.orderType(), now: Fixtures.now)
        try folder.write(second.certificate.pem() + second.key.pem(), to: "second.pem")
        let made = try await shell("set -e; cd \(folder.path)/source; \(Self.functions); \(script)")
        guard made.status == 0 else { throw OrderPackageError(.signing, made.output) }
        return try Files.read("\(folder.path)/out.order")
    }

    /// What the scripts are made of: `manifest`, `sign OPTION…`, `pack OPTION…`.
    private static let functions = #"""
        sum() { sha256sum "$1" | cut -d ' ' -f 1; }
        manifest() { printf '{"logo.png":"%s","order.json":"%s"}' "$(sum logo.png)" "$(sum order.json)" > manifest.json; }
        sign() { openssl cms -sign -binary -in manifest.json -signer ../leaf.pem -certfile ../intermediate.pem \
            -outform DER -nosmimecap -out signature "$@" 2>&1; }
        pack() { zip -q -X "$@" ../out.order manifest.json order.json logo.png signature; }
        """#

    static let all: [ForeignPackage] = [
        ForeignPackage("signer by issuer and serial number, deflated", [], "manifest; sign; pack"),
        ForeignPackage("signer by key identifier", [], "manifest; sign -keyid; pack"),
        ForeignPackage(
            "deflated from more than 5 MB",
            ["warning file-unused a.txt", "warning unpacked-too-large ."],
            "seq 1 800000 > a.txt; manifest;"
                + #" printf '{"a.txt":"%s","logo.png":"%s","order.json":"%s"}' "$(sum a.txt)""#
                + #" "$(sum logo.png)" "$(sum order.json)" > manifest.json; sign; pack; zip -q -X ../out.order a.txt"#
        ),
        ForeignPackage("stored", [], "manifest; sign; pack -0"),
        ForeignPackage(
            "zipped through a pipe, so that sizes follow the data",
            ["logo.png", "manifest.json", "order.json", "signature"].map { "warning zip-data-descriptor \($0)" },
            "manifest; sign; zip -q -X -fd - manifest.json order.json logo.png signature > ../out.order"
        ),
        ForeignPackage(
            "with extra fields of times and owners",
            [],
            "manifest; sign; zip -q ../out.order manifest.json order.json logo.png signature"
        ),
        ForeignPackage(
            "the folder zipped recursively",
            ["warning zip-folder en.lproj/"],
            "mkdir en.lproj; printf '\"Shop\" = \"b\";' > en.lproj/order.strings; manifest;"
                + #" printf '{"en.lproj/order.strings":"%s","logo.png":"%s","order.json":"%s"}' "$(sum en.lproj/order.strings)""#
                + #" "$(sum logo.png)" "$(sum order.json)" > manifest.json; sign; zip -q -X -r ../out.order ."#
        ),
        ForeignPackage(
            "the folder itself zipped",
            [
                "error enclosing-folder source", "error manifest-missing manifest.json",
                "error order-missing order.json", "error signature-missing signature", "warning zip-folder source/",
            ],
            "manifest; sign; cd ..; zip -q -X -r out.order source"
        ),
        ForeignPackage(
            "made by Python",
            [],
            #"""
            manifest; sign; python3 -c '
            import zipfile
            with zipfile.ZipFile("../out.order", "w", zipfile.ZIP_DEFLATED) as z:
                for name in ["manifest.json", "order.json", "logo.png", "signature"]: z.write(name)
            '
            """#
        ),
        ForeignPackage(
            "a manifest with line ends and blanks",
            [],
            #"printf '{\n  "logo.png": "%s",\n  "order.json": "%s"\n}\n' "$(sum logo.png)" "$(sum order.json)" > manifest.json; sign; pack"#
        ),
        ForeignPackage(
            "signed in text mode, which changes line ends",
            ["error signature-digest-mismatch signature"],
            #"printf '{\n"logo.png":"%s",\n"order.json":"%s"}' "$(sum logo.png)" "$(sum order.json)" > manifest.json;"#
                + " openssl smime -sign -in manifest.json -signer ../leaf.pem -certfile ../intermediate.pem"
                + " -outform DER -out signature -nosmimecap; pack"
        ),
        ForeignPackage("PEM", ["error signature-pem signature"], "manifest; sign -outform PEM; pack"),
        ForeignPackage("S/MIME", ["error signature-mime signature"], "manifest; sign -outform SMIME; pack"),
        ForeignPackage("attached", ["error signature-not-detached signature"], "manifest; sign -nodetach; pack"),
        ForeignPackage(
            "streamed",
            ["error signature-not-detached signature", "warning signature-ber signature"],
            "manifest; sign -nodetach -stream; pack"
        ),
        ForeignPackage(
            "no attributes",
            ["error signature-without-attributes signature"],
            "manifest; sign -noattr; pack"
        ),
        ForeignPackage("no certificates", ["error signer-missing signature"], "manifest; sign -nocerts; pack"),
        ForeignPackage("SHA-1", ["error signature-digest-algorithm signature"], "manifest; sign -md sha1; pack"),
        ForeignPackage("SHA-512", ["warning signature-digest-algorithm signature"], "manifest; sign -md sha512; pack"),
        ForeignPackage(
            "SHA-512 over another manifest",
            ["error signature-invalid signature", "warning signature-digest-algorithm signature"],
            "manifest; sign -md sha512; printf ' ' >> manifest.json; pack"
        ),
        ForeignPackage(
            "RSA with PSS",
            ["error signature-algorithm signature"],
            "manifest; sign -keyopt rsa_padding_mode:pss; pack"
        ),
        ForeignPackage(
            "two signers",
            ["error signature-signers signature", "note certificate-unneeded signature"],
            "manifest; sign -signer ../second.pem; pack"
        ),
        ForeignPackage(
            "capabilities for mail",
            ["note signature-attribute signature"],
            "manifest; openssl cms -sign -binary -in manifest.json -signer ../leaf.pem -certfile ../intermediate.pem"
                + " -outform DER -out signature; pack"
        ),
        ForeignPackage(
            "the root too",
            ["note signature-root signature"],
            "cat ../root.pem >> ../intermediate.pem; manifest; sign; pack"
        ),
        ForeignPackage(
            "a bare signature of openssl dgst",
            ["error signature-bare signature"],
            "manifest; openssl dgst -sha256 -sign ../leaf.pem -out signature manifest.json; pack"
        ),
        ForeignPackage(
            "encrypted",
            ["logo.png", "manifest.json", "order.json", "signature"]
                .flatMap { ["error zip-encrypted \($0)", "warning zip-data-descriptor \($0)"] },
            "manifest; sign; pack -P secret"
        ),
        ForeignPackage(
            "a symbolic link",
            ["error file-format logo.png", "error hash-mismatch logo.png", "error zip-symlink logo.png"],
            "manifest; sign; mv logo.png ../l.png; ln -s ../l.png logo.png; pack -y"
        ),
        ForeignPackage(
            "a bomb",
            ["error manifest-entry-missing bomb.png", "error zip-ratio bomb.png", "warning file-unused bomb.png"],
            "head -c 4000000 /dev/zero > bomb.png; manifest; sign; pack; zip -q -X ../out.order bomb.png"
        ),
        ForeignPackage(
            "a bomb beyond all limits",
            [
                "error manifest-entry-missing bomb.png", "error zip-ratio bomb.png", "error zip-too-large .",
                "warning file-unused bomb.png",
            ],
            "head -c 60000000 /dev/zero > bomb.png; manifest; sign; pack; zip -q -X ../out.order bomb.png"
        ),
        ForeignPackage(
            "ordinary sizes with room for 64-bit ones",
            ["warning zip-zip64 logo.png"],
            "manifest; sign;"
                + " python3 -c \"import zipfile; z = zipfile.ZipFile('../out.order', 'w');"
                + " [z.write(n) for n in ('manifest.json', 'order.json', 'signature')];"
                + " f = z.open('logo.png', 'w', force_zip64=True); f.write(open('logo.png', 'rb').read()); f.close();"
                + " z.close()\""
        ),
        ForeignPackage(
            "64-bit records",
            ["error zip-zip64 ."],
            "manifest; sign; zip -q -X -fz ../out.order manifest.json order.json logo.png signature"
        ),
        ForeignPackage(
            "an archive after a program",
            ["error zip-gap ."],
            "manifest; sign; pack; (printf '#!/bin/sh\\n'; cat ../out.order) > ../x; mv ../x ../out.order; zip -q -A ../out.order"
        ),
    ]
}

@Suite("Packages of other tools")
struct ForeignPackageTests {
    @Test(
        "openssl and zip make packages that are valid, or wrong in the way that was meant",
        arguments: ForeignPackage.all
    )
    func verify(foreign: ForeignPackage) async throws {
        let bytes = try await foreign.bytes()
        // OpenSSL signs with the clock's time, which may lie beyond the test certificates.
        let report = PackageVerifier(trust: [try Fixtures.authority().root], at: Fixtures.now).verify(bytes)
        let found = report.findings.map {
            "\($0.severity.rawValue) \($0.code) \($0.pointer?.description ?? $0.path ?? "")"
        }.sorted()
        #expect(found == foreign.expected.sorted(), "\(found)")
    }
}
