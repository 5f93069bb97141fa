// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Testing
import ZipFiles

@testable import OrderPackage

/// What programs of others make of our packages and certificates.
@Suite("Interoperation")
struct InteroperationTests {
    private func unpacked() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(try Fixtures.package().bytes, to: "a.order")
        try folder.write(try Fixtures.authority().root.pem(), to: "root.pem")
        let unzipped = try await shell("cd \(folder.path) && unzip -q a.order")
        #expect(unzipped.status == 0, "\(unzipped.output)")
        return folder
    }

    @Test("B15 unzip, Python and bsdtar read a package, from its directory and from its front")
    func archives() async throws {
        let folder = try await unpacked()
        let names = "manifest.json order.json Zebra.jpg logo.png signature"
        for (command, answer) in [
            ("unzip -t a.order | tail -n 1", "No errors detected in compressed data of a.order.\n"),
            (
                "python3 -c 'import zipfile; z=zipfile.ZipFile(\"a.order\"); print(z.testzip(), *z.namelist())'",
                "None \(names)\n"
            ),
            // libarchive, which iOS reads packages with; through a pipe it sees the local headers alone.
            ("bsdtar -tf a.order | xargs", "\(names)\n"), ("cat a.order | bsdtar -tf - | xargs", "\(names)\n"),
            (
                "mkdir t && cat a.order | bsdtar -xf - -C t && for f in \(names); do cmp $f t/$f || echo $f; done",
                ""
            ),
            ("bsdtar -tvf a.order | cut -c1-10 | sort -u", "-rw-r--r--\n"),
        ] {
            let result = try await shell("cd \(folder.path) && \(command)")
            #expect(result.status == 0 && result.output == answer, "\(command): \(result.output)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("B12 openssl prints the signature's structure exactly as the one real order's")
    func structure() async throws {
        let folder = try await unpacked()
        let printed = try await shell(
            "cd \(folder.path) && openssl cms -cmsout -print -noout -inform DER -in signature"
        )
        #expect(printed.status == 0)
        let lines = printed.output.split(separator: "\n").map(String.init)
        let certificates = try #require(lines.firstIndex(of: "    certificates:"))
        let revocations = try #require(lines.firstIndex(of: "    crls:"))
        #expect(lines[certificates..<revocations].count { $0 == "      d.certificate: " } == 2)
        // What stands in the hexadecimal dumps is compared elsewhere.
        let form = (lines[..<certificates] + lines[revocations...]).filter { !$0.contains(" - ") && !$0.isEmpty }
        #expect(
            form.map { String($0.trimmingPrefix { $0 == " " }) } == [
                "CMS_ContentInfo: ", "contentType: pkcs7-signedData (1.2.840.113549.1.7.2)", "d.signedData: ",
                "version: 3", "digestAlgorithms:", "algorithm: sha256 (2.16.840.1.101.3.4.2.1)", "parameter: <ABSENT>",
                "encapContentInfo: ", "eContentType: pkcs7-data (1.2.840.113549.1.7.1)", "eContent: <ABSENT>", "crls:",
                "<ABSENT>", "signerInfos:", "version: 3", "d.subjectKeyIdentifier: ", "digestAlgorithm: ",
                "algorithm: sha256 (2.16.840.1.101.3.4.2.1)", "parameter: <ABSENT>", "signedAttrs:",
                "object: contentType (1.2.840.113549.1.9.3)", "set:", "OBJECT:pkcs7-data (1.2.840.113549.1.7.1)",
                "object: signingTime (1.2.840.113549.1.9.5)", "set:", "UTCTIME:Jan  1 00:00:00 2026 GMT",
                "object: messageDigest (1.2.840.113549.1.9.4)", "set:", "OCTET STRING:", "signatureAlgorithm: ",
                "algorithm: rsaEncryption (1.2.840.113549.1.1.1)", "parameter: NULL", "signature: ", "unsignedAttrs:",
                "<ABSENT>",
            ]
        )
        withExtendedLifetime(folder) {}
    }

    @Test("the test leaf has each field of a real Order Type ID certificate, as openssl prints it")
    func leaf() async throws {
        let folder = try TemporaryFolder()
        try folder.write(try Fixtures.authority().identity.certificate.pem(), to: "leaf.pem")
        func openssl(_ arguments: String) async throws -> String {
            let result = try await shell("cd \(folder.path) && openssl \(arguments)")
            #expect(result.status == 0, "\(result.output)")
            return result.output
        }
        #expect(
            try await openssl("x509 -in leaf.pem -noout -subject -nameopt sep_comma_plus_space,sname") == """
                subject=UID=order.com.example.shop, CN=Order Type ID: order.com.example.shop, OU=A1B2C3D4E5, O=Example Inc., C=US

                """
        )
        let text = try await openssl("x509 -in leaf.pem -noout -text")
        let lines = text.split(separator: "\n").map { String($0.trimmingPrefix { $0 == " " }) }
        for (name, value) in [
            ("X509v3 Basic Constraints: critical", "CA:FALSE"), ("X509v3 Key Usage: critical", "Digital Signature"),
            ("X509v3 Extended Key Usage: ", "TLS Web Client Authentication, 1.2.840.113635.100.4.19"),
            ("Authority Information Access: ", "CA Issuers - URI:http://certs.example.com/wwdrg4.der"),
            ("X509v3 Certificate Policies: ", "Policy: 1.2.840.113635.100.5.1"),
            ("1.2.840.113635.100.6.3.2: ", ".."),
        ] {
            let place = try #require(lines.firstIndex(of: name), "\(name) in \(text)")
            #expect(lines[place + 1] == value)
        }
        for line in [
            "Signature Algorithm: sha256WithRSAEncryption", "Public-Key: (2048 bit)", "Exponent: 65537 (0x10001)",
            "OCSP - URI:http://ocsp.example.com/ocsp03-wwdrg4", "URI:http://crl.example.com/wwdrg4.crl",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        // A UTF8String of the order type; NULL for the push marker; and no extension beside the real one's.
        let structure = try await openssl("asn1parse -in leaf.pem")
        let hex = Hex.encode(Array("order.com.example.shop".utf8)).uppercased()
        #expect(structure.contains("[HEX DUMP]:0C16\(hex)"))
        #expect(structure.contains("[HEX DUMP]:0500"))
        #expect(lines.count { $0.hasPrefix("X509v3 ") && $0 != "X509v3 extensions:" } == 7)
        #expect(lines.count { $0.hasPrefix("1.2.840.113635.") } == 2)
        let serial = try await openssl("x509 -in leaf.pem -noout -serial")
        #expect(serial.count == "serial=\n".count + 32)
        let leaf = try Fixtures.authority().identity.certificate
        #expect((leaf.notAfter - leaf.notBefore) / 86_400 == 396)
        withExtendedLifetime(folder) {}
    }
}
