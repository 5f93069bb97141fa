// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import Testing

@testable import OrderPackage

/// One package whose every byte is known: a change of bytes between two versions of the code would change the tags of all
/// orders, and differ from what caches hold.
@Suite("Golden package")
struct GoldenPackageTests {
    @Test("a fixed key, order and time give the very bytes that they gave before")
    func bytes() throws {
        let identity = try SigningIdentity(
            certificate: try certificate(Self.leaf),
            key: try PrivateKey(der: try #require(Base64.decode(Self.key))),
            intermediates: [try certificate(Self.intermediate)]
        )
        let strings = Array("\"Shop\" = \"L\u{E4}den\";\n".utf8)
        let files = [
            try PackageFile(path: "logo.png", asset: Asset(Picture.png(300, 300, chunks: [("IDAT", [1, 2, 3])]))),
            try PackageFile(path: "en.lproj/order.strings", contents: strings),
        ]
        // 2026-12-24T18:00:00Z, and a second of before the chain's first.
        for (second, digest) in [
            (1_798_135_200, "2f91c9af82f641760a3fbe3118a87a2967cd3671f4a974fefbd957856db4a9b1"),
            (0, "14383cafbe7e5de621bf4b5b5d3ca90f32416debee4f51acca1706df41e4bbec"),
        ] as [(Int64, String)] {
            let package = try PackageBuilder(identity: identity)
                .build(order: Fixtures.order, files: files, signingTime: second)
            #expect(SHA256.hash(package.bytes).hex == digest, "\(second)")
            let report = PackageVerifier(trust: [try certificate(Self.root)]).verify(package.bytes)
            #expect(report.isValid && report.signingTime == max(second, identity.chainNotBefore))
        }
    }

    private func certificate(_ text: String) throws -> Certificate {
        try Certificate(der: try #require(Base64.decode(text)))
    }

    // A test authority's, made once; they are trusted by nothing.

    private static let key = """
        MIIEowIBAAKCAQEAvt2fhdrFsZ52TKUiH524EKutsjBnx0tRlwkkIzpb7KWaSTibKdGQoAcahAlRGEfHM6KhcZMG3U11nrOktEfay6n3/1OZ\
        JM8WuJrQt2BWFVNFDkNvPljXNpTJo5fGMbVfg+OtlwuUkx1M+UHavBK+oRY72xqpuufk496hDH05voW6czxlm75QD/G84GA/IGDWJKftvX6n\
        LW0BkfwEGre2xeH7zBIkB5hZfr1aix6MXfYlm1ae4/Cb59+afOCzmdfcEA44ntZxtgmRZWt3UhZY9X4oHiDe9T/cGQDMHhh95Tw0oru0fslI\
        HJ4mLArGPshh63jtUvnWnwUkJPXuZAm8XQIDAQABAoIBAACP5IVfZI+mWNDW96fCLiWWa9eHfva+SQo506pq5JRo1HB8wzA3Vsax3qke4edB\
        ZtvHEdSkyzNhpAQIoWaKg6Fv6bQNyfiqx3VZt12i4f4EFcL5/dzgJBocDA/4RXQmBZb816kHNrPMNUrSn9NH9tnAmAKILJHJVwo4wJ6py768\
        4sW0Eegr2A4NrnjReM7d4nXAHphTsScpK4mUZkOcLouxuefYOcJNl+DBtnNEKSiZAMTpQEb5MNchJuwpWir4VLgncyU5tAQZiuVEw3woj4eJ\
        1HUZHZyOvAFolnkoB0NFtEwZxb0lpI2dq2IKwc9wlAWtZl+fkOizlZECee/SdkECgYEA9GGjP2et0hXbaZg6wdUNuwbtwzd8CRo+qHtd9Aqs\
        FDYDgauQlAAVCsSQAwLfMsu2BT7hYoxKe6ge3L0YqZ2GenWph5WxqE+q6nPwHnKklgXBVlHGKN2CzifH90MqJx2wzBajzbNKmo9et25KoNag\
        8H20pacSNyOYP4onwriZSG0CgYEAx/ClmpvbIpb0d8JAg3ooOhuh1QpFoOxJRtmvg3Lvks8tRFAVUk//wFXpa3Td9RVaKxYha8vA5sm2D5JR\
        jN/NJpjXsXdwEp1WsyGvZ5Ef7+dNZ8edauuB8eXS2oARmLOxHoax+sxQppOVptVwwan1wKzgEUHe9VhIuV8PPIRxrbECgYEAieJBCnhEEaH1\
        b0nN9SlxmtHY+ulmWXhuW/9nTldrKegj6FjVtTuqo62uF5TaPD3GEIWfA0xmhgigiSlELgdMJfIXWgGzAGUa6TfLBlLm3CKZKEvxQ4Nf11OI\
        ttE1imZtJ2mquFftwvEbnuFiyAbxPV+fuktesq+pqkgYEPy4t60CgYA5V79nNEQJC5pZrpCqJKLc54fmfeeyW5I4i75WyOQFCv5ElWNIFEGZ\
        fApSE1aFL/aIXPSA4hMVHczlcmWJLba81yEleMffzthKz+JqpaivOXttxEZVn+3I3s02dXyWexLVWnQ5JdgLrlBBZP3NzVz6QZqR2H6Fhyh0\
        YdsQ1Dt2QQKBgGfOt23BqnlG65Ei4a5jgwmOlnVUq2ZeJ9MzSWjrl8K4yi7p9zl+MV558s3+Pqrqn0B4VpS24P7UjB+ghnFdJ95uhres6KIa\
        oSE9f7MJXcUHtFKK2UF+q9MKn9uyHZEPX8VevE1syS8TB3ljgxdRbvY/sDL87TdOPENkclkkQqRs
        """

    private static let leaf = """
        MIIFEjCCA/qgAwIBAgIQU4HflVv+6b3G7KgS8yEukjANBgkqhkiG9w0BAQsFADB5MUYwRAYDVQQDDD13YWxsZXRvcmRlcnMgVGVzdCBEZXZl\
        bG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MQswCQYDVQQLDAJHNDEVMBMGA1UECgwMRXhhbXBsZSBJbmMuMQswCQYD\
        VQQGEwJVUzAeFw0yNjExMjkxNTQ4NTVaFw0yNzEyMzAxNTQ4NTVaMIGRMSYwJAYKCZImiZPyLGQBAQwWb3JkZXIuY29tLmV4YW1wbGUuc2hv\
        cDEuMCwGA1UEAwwlT3JkZXIgVHlwZSBJRDogb3JkZXIuY29tLmV4YW1wbGUuc2hvcDETMBEGA1UECwwKQTFCMkMzRDRFNTEVMBMGA1UECgwM\
        RXhhbXBsZSBJbmMuMQswCQYDVQQGEwJVUzCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAL7dn4XaxbGedkylIh+duBCrrbIwZ8dL\
        UZcJJCM6W+ylmkk4mynRkKAHGoQJURhHxzOioXGTBt1NdZ6zpLRH2sup9/9TmSTPFria0LdgVhVTRQ5Dbz5Y1zaUyaOXxjG1X4PjrZcLlJMd\
        TPlB2rwSvqEWO9saqbrn5OPeoQx9Ob6FunM8ZZu+UA/xvOBgPyBg1iSn7b1+py1tAZH8BBq3tsXh+8wSJAeYWX69WosejF32JZtWnuPwm+ff\
        mnzgs5nX3BAOOJ7WcbYJkWVrd1IWWPV+KB4g3vU/3BkAzB4YfeU8NKK7tH7JSByeJiwKxj7IYet47VL51p8FJCT17mQJvF0CAwEAAaOCAXsw\
        ggF3MAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMB4GA1UdJQQXMBUGCCsGAQUFBwMCBgkqhkiG92NkBBMwHQYDVR0OBBYEFDvnAWCR\
        3FpHwp0lWXZCO556u7v9MB8GA1UdIwQYMBaAFFQUocmhTtu2AWE/ivmC7LMIh+ZeMCUGCSqGSIb3Y2QOAgQYDBZvcmRlci5jb20uZXhhbXBs\
        ZS5zaG9wMBAGCiqGSIb3Y2QGAwIEAgUAMHIGCCsGAQUFBwEBBGYwZDAvBggrBgEFBQcwAoYjaHR0cDovL2NlcnRzLmV4YW1wbGUuY29tL3d3\
        ZHJnNC5kZXIwMQYIKwYBBQUHMAGGJWh0dHA6Ly9vY3NwLmV4YW1wbGUuY29tL29jc3AwMy13d2RyZzQwFgYDVR0gBA8wDTALBgkqhkiG92Nk\
        BQEwMgYDVR0fBCswKTAnoCWgI4YhaHR0cDovL2NybC5leGFtcGxlLmNvbS93d2RyZzQuY3JsMA0GCSqGSIb3DQEBCwUAA4IBAQBZw3zaonOW\
        UnOXD+BFw2oSMLwqWmMWbN/NueKPcgZWfU8x7mA/VREOgiR6Ibwn1Y3goC5SkxnEjOzu8jft9XOQnuKY6Ab+GFBmfAqlZTUNGlUAElKcs5TB\
        q+NI8IOOHL6h9QNvO9bct0AKyNjy8ORzmvka3CXiVqcEG6f7PEGhxNhCE/65GEm2KhlooOg8TW4Ejt2E0Q4TSE2xxIZx+Q5dM1G2oYL2W/Db\
        pIBr8zxpST4o2sLP4YsB7QhGxzF02lh61WZyJYVZ8e1UEC9zNvKXF8XseU6yFQju+M6EEiqqXjb4DssOiKsVrTDr1ArGrB8u4YpMK/memwn5\
        WMPj41gj
        """

    private static let intermediate = """
        MIID6jCCAtKgAwIBAgIQcw1qPL2DTruc7w7TCy31+jANBgkqhkiG9w0BAQsFADBvMSIwIAYDVQQDDBl3YWxsZXRvcmRlcnMgVGVzdCBSb290\
        IENBMSUwIwYDVQQLDBxUZXN0IENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRUwEwYDVQQKDAxFeGFtcGxlIEluYy4xCzAJBgNVBAYTAlVTMB4X\
        DTI2MTEyOTE1NDg1NVoXDTM1MDIxNjE1NDg1NVoweTFGMEQGA1UEAww9d2FsbGV0b3JkZXJzIFRlc3QgRGV2ZWxvcGVyIFJlbGF0aW9ucyBD\
        ZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTELMAkGA1UECwwCRzQxFTATBgNVBAoMDEV4YW1wbGUgSW5jLjELMAkGA1UEBhMCVVMwggEiMA0GCSqG\
        SIb3DQEBAQUAA4IBDwAwggEKAoIBAQClbUYUjPBctQ2p2NpR6qJh9YklMrKKe9BUaS976lx7C292ENvAjhCrgEbMXb/OocWbFDCRm1tR6HEQ\
        0+VFaffL9ciJA7rG3EbBr23uD+oR+AzkaEXPXeLZshnOy6QGTqRtbgXr1YJR0a2jti1vJ4X+MiG481/IKDculvgW8UMNW0dtw6JAxMLL3tpN\
        8WlnjLjesEkqTV3TisWIY5q271VJO9XoMT9Ivx7s/ordMCyNToTGETGdPHqwLLVs0d3ssaoosgYH83eLOkAOXjczkkrRhEqsMhGMOObSr7F8\
        Sw7AHJK19Wf+JdvDm1TY6l4ud6bflWClH88QwH8tPQP9PaMRAgMBAAGjeDB2MBIGA1UdEwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEG\
        MB0GA1UdDgQWBBRUFKHJoU7btgFhP4r5guyzCIfmXjAfBgNVHSMEGDAWgBSY0MyWtI31pdzfxOeZa7EE4xvigTAQBgoqhkiG92NkBgIBBAIF\
        ADANBgkqhkiG9w0BAQsFAAOCAQEAMmd1brAKea6YbLnqt6AEEZXuRkZR/KTDAnp3Dli79TJpksE9Atn7+ZDinGs5NMLOhLQhDJULSgjMW2DO\
        uIfp3V6FhvIJDxvsmJMM3FRaU4a5ne5DEot8yUQeBHSE+CDHwwz9z7/kwtt6jy2FIJeR8mOXspKZTBKQwYNEShgNzM+8bTC9YQgtFse2PQ9/\
        dcdl6V1VWUW0ReDbKSuDJZ500vm609xFAM3j72Nmdp/7k81zirln3Kxldn6O2pnU6HJat1ncAwx6T3JQFMKoyCcq7f+u3447REYiLv9AMVtc\
        SKI+LSRNGzfUNaPx0kxy0WYnPXs1A4i0mliWOugf0XtdlQ==
        """

    private static let root = """
        MIIDyzCCArOgAwIBAgIQSML5WX3Ibe7kfY6Lc/s2kjANBgkqhkiG9w0BAQsFADBvMSIwIAYDVQQDDBl3YWxsZXRvcmRlcnMgVGVzdCBSb290\
        IENBMSUwIwYDVQQLDBxUZXN0IENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRUwEwYDVQQKDAxFeGFtcGxlIEluYy4xCzAJBgNVBAYTAlVTMB4X\
        DTI2MTEyOTE1NDg1NVoXDTM2MTEyNzE1NDg1NVowbzEiMCAGA1UEAwwZd2FsbGV0b3JkZXJzIFRlc3QgUm9vdCBDQTElMCMGA1UECwwcVGVz\
        dCBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTEVMBMGA1UECgwMRXhhbXBsZSBJbmMuMQswCQYDVQQGEwJVUzCCASIwDQYJKoZIhvcNAQEBBQAD\
        ggEPADCCAQoCggEBAMDfdscO7OlQifDJZSro4PGUqwMkmrFtU7NpWGnhwPzL1EfizErmCFdHEFykm2gx/nExeByBji7KQBTNalt8wmsEItA2\
        WpE0CaemnBOUkx/Gy+jgyHZlW1Pj3LoKl+vTlftCeURZmB7P7fOC4n1GyEz5RlDuXKPEvwy7NujbjPMguU9r17mL4Xvq8X+rA7tvL6wYF4kP\
        uUGjAhIV45y5rOvAE8pQMJKWIEcna42/6MsAf/o5BqspEcLCLfG1kif4miEZIe9kISFjHxvIkcdf/PWQp7Wk70LTnTxdXuVzb6+lJuvM3erj\
        RwWaEuG65p7aw5xWaVp35DMLCuSrIsYKRLMCAwEAAaNjMGEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFJjQ\
        zJa0jfWl3N/E55lrsQTjG+KBMB8GA1UdIwQYMBaAFJjQzJa0jfWl3N/E55lrsQTjG+KBMA0GCSqGSIb3DQEBCwUAA4IBAQCzZ7j0WtQyJops\
        MEWkIHYVoUZfISwoMP15icBcFhw77iK3d68ees/e7pUxPOHRfSXGKacOOOcSFbIfJAH+/bLsji6t5FaE/rMRpQzRA1GHmI0yBztTLnmgiNg8\
        ijgsIfkTzMoGUX3thuvZSssK+jeCVhx23muvLAODlXDaEGxEF49ZsXm62JWViMltLxjrEYGAHKfbW2oTnQOlI8mJI8qumerusR6Z5i2SWBV+\
        IwOyRjZUIFKPCnw3sjshS0SdnRRid1cV1ACpHJUWRf/ijUllSPVljhha5BZ1Ew1i/bUO8yKDfEYqg6YqLXzonvDj212kp2dIPCXbwVAaumti\
        xzhr
        """
}
