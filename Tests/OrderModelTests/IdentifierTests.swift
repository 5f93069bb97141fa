// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OrderModel

@Suite struct IdentifierTests {
    @Test(
        arguments: [
            ("order.com.example.shop", nil), ("com.example", nil), ("", .empty), ("shop", .badForm), ("a..b", .badForm),
            ("order.com.", .badForm), ("order.com/x", .badCharacter), ("örder.com", .badCharacter),
            ("a." + String(repeating: "b", count: 254), .tooLong),
        ] as [(String, IdentifierError.Code?)]
    )
    func `an order type identifier is a reverse-DNS name`(_ text: String, _ code: IdentifierError.Code?) {
        #expect(fault { () throws(IdentifierError) in _ = try OrderTypeIdentifier(text) } == code)
    }

    @Test(
        arguments: [
            ("ORDER-1", nil), ("#000000001", nil), (String(repeating: "é", count: 127), nil),
            (String(repeating: "é", count: 128), .tooLong), ("", .empty), ("a\nb", .badCharacter),
            ("a\u{85}b", .badCharacter),
        ] as [(String, IdentifierError.Code?)]
    )
    func `an order identifier is up to 255 bytes without control characters`(
        _ text: String,
        _ code: IdentifierError.Code?
    ) {
        #expect(fault { () throws(IdentifierError) in _ = try OrderIdentifier(text) } == code)
    }

    @Test func `identifiers that only look alike are two`() throws {
        let composed = try OrderIdentifier("\u{E9}")
        let decomposed = try OrderIdentifier("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try composed == OrderIdentifier("\u{E9}"))
    }

    @Test func `an identifier knows whether a URL can hold it as it is`() throws {
        #expect(try OrderIdentifier("A-1_b.c~").isURLSafe)
        #expect(try !OrderIdentifier("#1").isURLSafe)
    }

    @Test func `what paths can't hold is no identifier of an order or a device`() throws {
        for text in [".", ".."] {
            #expect { try OrderIdentifier(text) } throws: { ($0 as? IdentifierError)?.code == .badForm }
            #expect { try DeviceIdentifier(text) } throws: { ($0 as? IdentifierError)?.code == .badForm }
        }
        for text in ["...", ".a", "a.", "./"] {
            #expect(try OrderIdentifier(text).text == text)
            #expect(try DeviceIdentifier(text).text == text)
        }
    }

    @Test(
        arguments: [
            ("00aaFF", nil), ("", .empty), ("../../x", .badCharacter), (String(repeating: "a", count: 1000), nil),
            (String(repeating: "a", count: 1001), .tooLong),
        ] as [(String, IdentifierError.Code?)]
    )
    func `a push token is 1 to 1,000 hexadecimal digits`(_ text: String, _ code: IdentifierError.Code?) {
        #expect(fault { () throws(IdentifierError) in _ = try PushToken(text) } == code)
    }

    @Test func `secrets show neither in text nor in errors`() throws {
        let token = try AuthenticationToken("0123456789abcdef")
        #expect(!"\(token)".contains("0123") && !String(reflecting: token).contains("0123"))
        let device = try DeviceIdentifier("device-secret")
        var dumped = ""
        dump(device, to: &dumped)
        #expect(!dumped.contains("secret"))
        do throws(IdentifierError) {
            _ = try PushToken("secret!")
        } catch {
            #expect(!error.description.contains("secret") && !error.fix.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("logo.png", nil), ("logo@2x.png", nil), ("fr.lproj/logo.png", nil),
            ("zh-Hans-CN.lproj/order.strings", nil),
            ("", .empty), ("a/b.png", .badForm), ("../a", .badForm), (".", .badForm), ("..", .badForm),
            ("/a", .badForm),
            ("a b.png", .badCharacter), ("x.lproj/a", .badForm), ("de.lproj/a/b", .badForm), (".DS_Store", .badForm),
            ("en.lproj", .badForm), ("EN.LProj", .badForm), ("de.lproj/en.lproj", .badForm), ("a.lproj.png", nil),
        ] as [(String, IdentifierError.Code?)]
    )
    func `a package path is a plain name, or one in a language folder`(_ text: String, _ code: IdentifierError.Code?) {
        #expect(fault { () throws(IdentifierError) in _ = try PackagePath(text) } == code)
    }

    @Test(
        arguments: [
            ("logo.png", nil), ("Logo groß 2.png", nil), ("images/logo.png", nil), ("a/b/c", nil), ("...", nil),
            (".logo.png", nil), ("a..png", nil), ("aé:b", nil), ("a/b:c", nil), (" ", nil), ("😀", nil),
            (String(repeating: "a", count: 255), nil), (String(repeating: "a", count: 256), .tooLong),
            (String(repeating: "é", count: 127), nil), (String(repeating: "é", count: 128), .tooLong),
            ("", .empty), ("/a", .badForm), ("a/", .badForm), ("a//b", .badForm), (".", .badForm), ("..", .badForm),
            ("../a", .badForm), ("a/../b", .badForm), ("a/.", .badForm), ("c:/a", .badForm), ("c:a", .badForm),
            ("a\\b", .badCharacter), ("a\nb", .badCharacter), ("a\u{0}", .badCharacter), ("a\u{7F}", .badCharacter),
            ("a\u{9B}", .badCharacter),
        ] as [(String, IdentifierError.Code?)]
    )
    func `a file name is what an archive can hold`(_ text: String, _ code: IdentifierError.Code?) {
        #expect(fault { () throws(IdentifierError) in _ = try FileName(text) } == code)
    }

    private func fault(_ body: () throws(IdentifierError) -> Void) -> IdentifierError.Code? {
        do throws(IdentifierError) {
            try body()
            return nil
        } catch { return error.code }
    }
}
