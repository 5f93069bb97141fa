// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

/// Files that hold the identities of several order types, as Keychain Access exports a selection.
@Suite("Several identities in one file")
struct SeveralIdentitiesTests {
    private let shop: OrderTypeIdentifier
    private let bakery: OrderTypeIdentifier

    init() throws {
        shop = try Fixtures.orderType()
        bakery = try Fixtures.orderType("order.com.example.bakery")
    }

    /// Two identities with their issuer: `two.pem`, `two.p12`, and `old.p12` whose keys lie under an old cipher. No program
    /// writes two keys into PKCS#12, so the bags are put together here (RFC 7292 4), under a checksum (its appendix B).
    private func installation() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        let other = try authority.identity(for: bakery, now: Fixtures.now)
        for (name, identity) in [("shop", authority.identity), ("bakery", other)] {
            try folder.write(identity.certificate.der, to: "\(name).der")
            try folder.write(identity.certificate.pem(), to: "\(name).pem")
            try folder.write(identity.key.pem(), to: "\(name).key")
        }
        try folder.write(authority.intermediate.der, to: "intermediate.der")
        try folder.write(authority.intermediate.pem(), to: "intermediate.pem")
        try folder.write(Array(Self.script.utf8), to: "make.py")
        let made = try await shell(
            """
            set -e; cd \(folder.path)
            for name in shop bakery; do
                openssl pkcs8 -topk8 -in $name.key -outform DER -passout pass:hush-7 -out $name.new
                openssl pkcs8 -topk8 -in $name.key -outform DER -passout pass:hush-7 -v1 PBE-SHA1-RC2-40 \\
                    -provider legacy -provider default -out $name.old
                { echo 'Bag Attributes'; cat $name.key $name.pem; } >> two.pem
            done
            cat intermediate.pem >> two.pem
            python3 make.py new two.p12; python3 make.py old old.p12
            """
        )
        #expect(made.status == 0, "\(made.output)")
        return folder
    }

    private static let script = #"""
        import hashlib, hmac, os, sys
        def tlv(tag, value):
            size = len(value)
            return bytes([tag]) + (bytes([size]) if size < 128 else bytes([0x82, size >> 8, size & 255])) + value
        def oid(text):
            numbers = [int(part) for part in text.split('.')]
            value = bytes([numbers[0] * 40 + numbers[1]])
            for number in numbers[2:]:
                groups = [number & 127]
                while number > 127:
                    number >>= 7
                    groups.insert(0, number & 127 | 128)
                value += bytes(groups)
            return tlv(6, value)
        seq = lambda *values: tlv(0x30, b''.join(values))
        data = lambda value: seq(oid('1.2.840.113549.1.7.1'), tlv(0xa0, tlv(4, value)))
        bag = lambda kind, value: seq(oid('1.2.840.113549.1.12.10.1.' + kind), tlv(0xa0, value))
        read = lambda name: open(name, 'rb').read()
        certificate = lambda name: bag('3', seq(oid('1.2.840.113549.1.9.22.1'), tlv(0xa0, tlv(4, read(name + '.der')))))
        bags = [certificate('intermediate')]
        for name in ('shop', 'bakery'): bags += [bag('2', read(name + '.' + sys.argv[1])), certificate(name)]
        # The last one lies in a bag of bags.
        safe = seq(data(seq(*bags[:-1])), data(seq(bag('6', seq(bags[-1])))))
        salt, fill = os.urandom(8), lambda text: (text * 64)[:(len(text) + 63) // 64 * 64]
        key = hashlib.sha1(b'\3' * 64 + fill(salt) + fill('hush-7\0'.encode('utf-16be'))).digest()
        for _ in range(2047): key = hashlib.sha1(key).digest()
        mac = hmac.new(key, safe, 'sha1').digest()
        digest = seq(seq(oid('1.3.14.3.2.26'), b'\5\0'), tlv(4, mac))
        open(sys.argv[2], 'wb').write(seq(b'\2\1\3', data(safe), seq(digest, tlv(4, salt), b'\2\2\x08\0')))
        """#

    private func files(_ folder: TemporaryFolder, _ name: String, key: String? = nil) throws -> SigningIdentity.Files {
        SigningIdentity.Files(
            identity: "\(folder.path)/\(name)",
            key: key.map { "\(folder.path)/\($0)" },
            passphrase: Array("hush-7".utf8)
        )
    }

    @Test(
        "all keys and certificates of a PKCS#12 file are read, whatever covers them",
        arguments: ["two.p12", "old.p12"]
    )
    func contents(name: String) async throws {
        let folder = try await installation()
        let bytes = try Files.read("\(folder.path)/\(name)")
        let contents = try PKCS12.read(bytes, passphrase: Array("hush-7".utf8))
        #expect(contents.keys.count == 2 && contents.certificates.count == 3)
        #expect(
            contents.certificates.map { leaf in contents.keys.contains { leaf.matches($0) } } == [false, true, true]
        )
        #expect(contents.usedLegacyAlgorithms == (name == "old.p12"))
        #expect {
            try PKCS12.read(bytes, passphrase: Array("hush-8".utf8))
        } throws: {
            ($0 as? CryptographyError)?.code == .wrongPassphrase
        }
    }

    @Test(
        "of a file each order type's identity is loaded by name; without one, all are named",
        arguments: [
            "two.pem", "two.p12", "old.p12",
        ]
    )
    func files(name: String) async throws {
        let folder = try await installation()
        let files = try files(folder, name)
        for type in [shop, bakery] {
            let identity = try SigningIdentity.load(files, for: type, validAt: Fixtures.now)
            #expect(identity.orderTypeIdentifier == type)
            let byKey = try self.files(folder, name, key: type == shop ? "shop.key" : "bakery.key")
            #expect(try SigningIdentity.load(byKey).certificate == identity.certificate)
        }
        for type in [nil, try Fixtures.orderType("order.com.example.other")] {
            let error = #expect(throws: OrderPackageError.self) { try SigningIdentity.load(files, for: type) }
            #expect(error?.code == .severalIdentities && error?.path == files.identity)
            #expect(error?.message.contains("\(bakery.text) and \(shop.text)") == true)
        }
    }

    @Test("a folder with such a file has each of its identities", arguments: ["two.pem", "two.p12", "old.p12"])
    func folder(name: String) async throws {
        let folder = try await installation()
        try folder.write(try Files.read("\(folder.path)/\(name)"), to: "all/\(name)")
        try folder.write(Array("hush-7".utf8), to: "all/\(name.prefix(3)).passphrase")
        let identities = try SigningIdentity.load(folder: "\(folder.path)/all", validAt: Fixtures.now)
        #expect(Set(identities.keys) == [shop, bakery])
    }

    @Test("of two certificates of one order type the one that ends last is taken, wherever it stands in the file")
    func renewed() throws {
        let authority = try Fixtures.authority()
        let renewed = try authority.issue(
            TestAuthority.leafTemplate(shop, now: Fixtures.now + 86_400),
            key: authority.identity.key
        )
        let (old, new) = (authority.identity.certificate.pem(), renewed.certificate.pem())
        for text in [old + new, new + old] {
            let identity = try SigningIdentity(
                identity: text + authority.identity.key.pem(),
                key: nil,
                intermediates: [authority.intermediate],
                passphrase: nil
            )
            #expect(identity.certificate == renewed.certificate)
        }
    }

    @Test("a renewed certificate that isn't valid yet leaves the place to the one in date, and takes it when that ends")
    func renewedAhead() throws {
        let now = WallTime.now().seconds
        let authority = try TestAuthority.make(orderType: shop, now: now)
        let renewed = try authority.issue(
            TestAuthority.leafTemplate(shop, now: now + 3 * 86_400),
            key: authority.identity.key
        )
        let (old, new) = (authority.identity.certificate, renewed.certificate)
        let folder = try TemporaryFolder()
        try folder.write(authority.intermediate.pem(), to: "intermediate.pem")
        for pem in [old.pem() + new.pem(), new.pem() + old.pem()] {
            try folder.write(pem + authority.identity.key.pem(), to: "shop.pem")
            let files = SigningIdentity.Files(
                identity: folder.path + "/shop.pem",
                intermediates: [folder.path + "/intermediate.pem"]
            )
            #expect(try SigningIdentity.load(files, validAt: now).certificate == old)
            #expect(try SigningIdentity.load(files).certificate == old)
            #expect(try SigningIdentity.load(files, validAt: old.notAfter).certificate == new)
            #expect(try SigningIdentity.load(files, validAt: old.notAfter + 1).certificate == new)
        }
    }

    @Test("an issuer that was certified anew and isn't valid yet leaves the place to the one in date")
    func renewedIssuer() throws {
        let now = WallTime.now().seconds
        let authority = try TestAuthority.make(orderType: shop, now: now)
        let later = try TestCertificates.intermediate("G4", now + 3 * 86_400)
            .issue(for: authority.intermediateKey, issuer: (authority.root, authority.rootKey))
        for issuers in [[authority.intermediate, later], [later, authority.intermediate]] {
            let identity = try SigningIdentity(
                certificate: authority.identity.certificate,
                key: authority.identity.key,
                intermediates: issuers
            )
            #expect(identity.chainNotBefore == authority.identity.chainNotBefore)
        }
    }
}
