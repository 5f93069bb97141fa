// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience

@testable import OrderModel

/// Makes one order after another out of good ones, each with a few changes of the kinds that people and programs make.
struct OrderMutator {
    private var random: SeededGenerator
    private let orders: [JSONValue]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        orders = try [
            JSONValue(text: ValidationTests.whole), Fixture.json("order-bakery-pickup.json"),
            Fixture.json("order-usb-currency.json"), Fixture.json("order-vapor-minimal.json"),
            Fixture.json("order-invalid-planner.json"), JSONValue(text: Self.full),
        ]
    }

    /// The next order.
    mutating func next() -> JSONValue {
        var order = random.one(of: orders)
        for _ in 0..<Int(random.next() % 4) { order = changed(order, 0) }
        return order
    }

    private mutating func changed(_ value: JSONValue, _ depth: Int) -> JSONValue {
        switch value {
        case .object(let object) where !object.isEmpty && random.chance(depth == 0 ? 99 : 85):
            return .object(changed(object, depth))
        case .array(var elements) where !elements.isEmpty && random.chance(85):
            let index = Int(random.next() % UInt64(elements.count))
            switch random.next() % 10 {
            case 0: elements.remove(at: index)
            case 1: elements.append(elements[index])
            case 2: elements.insert(random.one(of: Self.values), at: index)
            default: elements[index] = changed(elements[index], depth + 1)
            }
            return .array(elements)
        default: return replacement(for: value)
        }
    }

    private mutating func changed(_ object: JSONObject, _ depth: Int) -> JSONObject {
        var object = object
        let name = random.one(of: object.keys)
        switch random.next() % 16 {
        case 0: object.remove(name)
        case 1: object[name] = .null
        case 2: object[random.one(of: Self.names)] = random.one(of: Self.values)
        case 3:
            // Misspelt: another case, a letter too many, one too few.
            let value = object.remove(name) ?? .null
            object[random.one(of: [name.lowercased(), name + "s", String(name.dropLast()), name.uppercased()])] = value
        case 4: object[name] = random.one(of: Self.values)
        case 5: object[random.one(of: Self.names)] = random.one(of: Self.texts(random.next()))
        default: if let member = object[name] { object[name] = changed(member, depth + 1) }
        }
        return object
    }

    private mutating func replacement(for value: JSONValue) -> JSONValue {
        guard case .string(let text) = value, random.chance(85) else { return random.one(of: Self.values) }
        switch random.next() % 6 {
        case 0:
            var scalars = Array(text.unicodeScalars)
            let place = scalars.isEmpty ? 0 : Int(random.next() % UInt64(scalars.count))
            if random.chance(50), !scalars.isEmpty { scalars.remove(at: place) }
            scalars.insert(random.one(of: Self.scalars), at: min(place, scalars.count))
            return .string(String(String.UnicodeScalarView(scalars)))
        case 1:
            return .string(text + random.one(of: ["\n", " ", "Z", "0", "\r\n", "/v1", "/", "é", "\u{301}", "?a", "#"]))
        default: return random.one(of: Self.texts(random.next()))
        }
    }

    private static func texts(_ number: UInt64) -> [JSONValue] {
        switch number % 5 {
        case 0: dates
        case 1: durations
        case 2: urls
        case 3: words
        default: numbers
        }
    }

    private static let scalars = Array(
        "aZ09.-_:/@?#%[]+T \n\t\u{0}\u{7F}\u{85}\u{9F}\u{A0}é\u{212A}\u{2028}😀\u{301}".unicodeScalars
    )

    private static let names = [
        "status", "x", "fulfillmentType", "amount", "null", "", "webServiceURL", "authenticationToken", "schemaVersion",
        "payment", "lineItems", "carrier", "displayName", "quantity", "image", "countryCode", "location", "returns",
        "merchant", "K", "\u{212A}", "é", "e\u{301}",
    ]

    private static let dates: [JSONValue] = [
        "2026-01-01T10:00:00Z", "2026-01-01t10:00:00z", "2026-01-01T10:00:00+01:00", "2026-01-01T10:00:00-23:59",
        "2026-01-01T10:00:00+24:00", "2026-01-01T10:00:00+01:60", "2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00.Z",
        "2026-01-01T10:00:00,5Z", "2026-01-01T10:00Z", "2026-01-01T10:00:00", "2026-01-01 10:00:00Z", "2026-01-01",
        "2026-13-01T10:00:00Z", "2026-02-29T10:00:00Z", "2024-02-29T10:00:00Z", "2100-02-29T10:00:00Z",
        "2000-02-29T10:00:00Z", "2026-04-31T10:00:00Z", "2026-01-00T10:00:00Z", "2026-00-01T10:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T23:59:61Z", "20260101T100000Z",
        "2026-1-1T1:0:0Z", "2026-W01-1T10:00:00Z", "2026-001T10:00:00Z", "+2026-01-01T10:00:00Z",
        "-2026-01-01T10:00:00Z", "12026-01-01T10:00:00Z", "2026-01-01T10:00:00+0100", "2026-01-01T10:00:00+01",
        "2026-01-01T10:00:00Z\n", " 2026-01-01T10:00:00Z", "2026-01-01T10:00:00ZZ", "2026-01-01T10:00:00 Z",
        "２０２６-01-01T10:00:00Z", "2026-01-01T10:00:00\u{2212}01:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
        "2026-01-01T10:00:00.123456789012345678901234567890Z", "/Date(1487415600000-0000)/", "1767261600",
        .string("2026-01-01T10:00:00." + String(repeating: "1", count: 43) + "Z"),
        .string("2026-01-01T10:00:00." + String(repeating: "1", count: 44) + "Z"),
        "0000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "2016-12-31T22:59:60-01:00", "2016-12-31T22:59:60Z",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
    ]

    private static let durations: [JSONValue] = [
        "PT30M", "P1D", "P1W", "P0Y0M0DT0H30M0S", "P1Y2M3DT4H5M6S", "PT1H30S", "P1Y3D", "P1YT6S", "P", "PT", "P1DT",
        "P1W1D", "P1WT1H", "PT1.5H", "PT1,5H", "-PT1H", "+PT1H", "PT-1H", "P1H", "PT1D", "PT1M1H", "P1M1Y", "P1D1M",
        "pt1h", "P1", "1H", "PT1HT1M", "PT1H1H", "PT123456789S", "PT1234567890S", "P0D", "PT0S", "P00001D", "PT 1H",
        "PT1H ", "PT1H\n", "P１D", "P1S", "PT1Y", "PT1W", "P0001-00-00T00:00:00", "1800", "P1Y1M1W1D", "",
    ]

    private static let urls: [JSONValue] = [
        "https://www.example.com/", "http://www.example.com", "HTTPS://WWW.EXAMPLE.COM/A", "https://example.com:443/a",
        "https://example.com:/a", "https://example.com:port/", "https://:443/", "https://", "https:/a", "https:a",
        "https:", "http://user@/", "http://user@:80/", "http://user:secret@example.com/", "http://a@b@example.com/",
        "https://example.com/a b", "https://example.com/ü", "https://exämple.com/", "https://example.com/%C3%BC",
        "https://example.com/%", "https://example.com/%2", "https://example.com/%GG", "https://example.com/a|b",
        "https://example.com/{a}", "https://example.com/a^b", "https://example.com/`", "https://example.com/<a>",
        "https://example.com/\"", "https://example.com/\\", "https://example.com/?a=b&c=d#e",
        "https://example.com/#a#b",
        "https://example.com/?[]", "https://example.com/[a]", "https://[::1]/", "https://[::1]:8080/v1",
        "https://[2001:db8::1]/", "https://[::1", "https://::1/", "https://[1:2:3:4:5:6:7:8]/",
        "https://[1:2:3:4:5:6:7:8:9]/", "https://[::ffff:192.0.2.1]/", "https://[::256.0.0.1]/", "https://[v1.a:b]/",
        "https://[vz.a]/", "https://[fe80::1%25en0]/", "https://192.0.2.1/", "https://999.1.1.1/", "//example.com/a",
        "/a/b", "a", "", "mailto:a@example.com", "mailto:", "tel:+1-201-555-0123", "urn:a:b", "foo://", "foo://?a",
        "foo:/",
        "file:///a", "data:text/plain,a", "1http://example.com", "ht tp://example.com", "ht+tp://example.com",
        "-http://example.com", "https://example.com/v1", "https://example.com/v1/", "https://example.com/v1//",
        "https://example.com/a/v1", "https://example.com/av1", "https://example.com//v1", "https://v1", "https://v1/",
        "https://example.com/v1/a", "https://example.com/V1", "https://example.com?/v1", "https://example.com#/v1",
        "https://example.com/\n", "https://example.com\n", "\nhttps://example.com", "https://example.com/\t",
        "https://example.com/\u{0}", "https://example.com/\u{7F}", "javascript:alert(1)", "https://a..b/",
        "https://-a/",
        .string("https://example.com/" + String(repeating: "a", count: 7980)),
        .string("https://example.com/" + String(repeating: "a", count: 7981)),
    ]

    private static let words: [JSONValue] = [
        "", " ", "open", "Open", "open ", "completed", "cancelled", "canceled", "shipped", "pickedUp", "readyForPickup",
        "shipping", "pickup", "delivery", "ecommerce", "paid", "USD", "usd", "US", "us", "USA", "XX", "U1", "US\n",
        "USD\n",
        "SE\u{212A}", "\u{212A}E", "logo.png", ".png", "../a.png", "a/b.png", "de.lproj/logo.png", "pt-BR.lproj/a.png",
        "zh-Hans-CN.lproj/a", "de.lproj/", "de.lproj/.a", "deutsch.lproj/a", "a.png\n", "ä.png", "a b.png",
        ".", "..", "...", "a/..", "a/../b", "./a", "a/.", "a//b", "/a", "a/", "c:a", "::", "é:a", "a:", "a\\b", "a/b/c",
        "a\u{7F}", "\u{9B}a", "images/logo.png", "Logo groß.png", "a/\n", "..\n", "/",
        "order.com.example.shop", "order", "order.", ".order", "order..a", "order.com.exämple", "order.com.example\n",
        "0123456789abcdef", "0123456789abcde", "0123456789abcde ", "0123456789abcdef\n", "éééééééééééééééé", "qr",
        "a\u{0}b", "a\u{85}b", "\u{9F}", "\u{A0}", "😀", "enabled", "disabledIfAppInstalled", "e\u{301}", "null", "true",
        .string(String(repeating: "a", count: 100)), .string(String(repeating: "a", count: 101)),
        .string(String(repeating: "a", count: 255)), .string(String(repeating: "a", count: 256)),
        .string(String(repeating: "a", count: 2048)), .string(String(repeating: "a", count: 2049)),
        .string(String(repeating: "é", count: 127)), .string(String(repeating: "é", count: 200)),
        .string(String(repeating: "é", count: 200) + "\u{1}"), .string(String(repeating: "😀", count: 256)),
        .string("order." + String(repeating: "a", count: 249)), .string("order." + String(repeating: "a", count: 250)),
    ]

    /// Spellings of numbers, as numbers and as texts, whose values a binary fraction does not change.
    private static let numbers: [JSONValue] =
        [
            "0", "-0", "0.0", "-0.0", "0e5", "1", "1.0", "1e2", "1E+2", "100e-2", "2", "2.0", "20e-1", "3", "-1",
            "28.8",
            "1.5", "0.25", "90", "90.5", "-90", "180", "-180", "181", "1e-3", "123456789012", "9007199254740993",
            "9223372036854775807", "9223372036854775808", "1e15", "12345678901234567890123456789012",
        ].flatMap { (text: String) -> [JSONValue] in
            [.string(text)] + (JSONNumber(text).map { [.number($0)] } ?? [])
        } + [
            "+1", "1.", ".5", "-.5", "-", "1,00", "1 000", "0x10", "1e2x", "NaN", "Infinity", "٣", "000", "00.10",
            "1\n",
            "123456789012345678901234567890123", "0.0000000000000000000000000000001",
        ]

    private static let values: [JSONValue] =
        [
            .null, true, false, [], .object(JSONObject()), [.null], [[]], ["status": "open"],
            ["amount": "1", "currency": "USD"],
            nested(30, array: true), nested(30, array: false),
            ["fulfillmentType": "pickup", "fulfillmentIdentifier": "q", "status": "open", "displayName": "S"],
            ["fulfillmentType": "shipping", "fulfillmentIdentifier": "t", "status": "shipped"],
            ["title": "A", "quantity": 1], ["returnIdentifier": "r2", "status": "open"],
        ] + numbers + words

    private static func nested(_ depth: Int, array: Bool) -> JSONValue {
        (0..<depth).reduce(1) { value, _ in array ? [value] : ["a": value] }
    }

    /// Every member of every object.
    private static let full = """
        {"schemaVersion":2,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-2","orderType":"ecommerce",
        "orderNumber":"2","createdAt":"2026-01-01T10:00:00Z","updatedAt":"2026-01-02T10:00:00+01:00","status":"completed",
        "statusDescription":"Done","merchant":{"merchantIdentifier":"merchant.com.example","displayName":"Shop",
        "url":"https://www.example.com/","logo":"logo.png","address":{"addressLines":["1 Road"],"subLocality":"D",
        "locality":"C","subAdministrativeArea":"N","administrativeArea":"S","postalCode":"1","countryCode":"DE"},
        "businessChatURL":"https://bcrw.apple.com/a","contactURL":"https://www.example.com/c",
        "emailAddress":"help@example.com","phoneNumber":"+1 201 555 0123"},"orderProvider":{"displayName":"P",
        "url":"https://www.example.com","trackingLogoNameLightColorScheme":"l.png",
        "trackingLogoNameDarkColorScheme":"d.png"},"customer":{"givenName":"N","familyName":"M","organizationName":"O",
        "emailAddress":"n@example.com","phoneNumber":"1"},"orderManagementURL":"https://www.example.com/o",
        "lineItems":[{"title":"A","subtitle":"B","quantity":"2","price":{"amount":"1","currency":"EUR"},"image":"i.png",
        "gtin":"1","sku":"2"}],"payment":{"total":{"amount":2.00,"currency":"EUR"},"summaryItems":[{"label":"Total",
        "value":{"amount":"2","currency":"EUR"}}],"transactions":[],"paymentMethods":["Card"],
        "applePayTransactionIdentifiers":["a"]},"fulfillments":[{"fulfillmentType":"pickup","fulfillmentIdentifier":"p",
        "displayName":"Store","status":"readyForPickup","statusDescription":"R","pickupAt":"2026-01-02T10:00:00Z",
        "pickupWindowDuration":"PT2H","pickedUpAt":null,"address":{},"location":{"latitude":1,"longitude":2.5,
        "altitude":-3},"barcode":{"format":"aztec","message":"m","messageEncoding":"iso-8859-1","altText":"t"},
        "lineItems":[{"title":"A","quantity":1}],"notes":"n"},{"fulfillmentType":"shipping","fulfillmentIdentifier":"s",
        "status":"onTheWay","carrier":"C","trackingNumber":"T","trackingURL":"https://www.example.com/t",
        "shippedAt":"2026-01-02T10:00:00Z","deliveredAt":null,"recipient":{"givenName":"N","organizationName":"O",
        "address":{"countryCode":"US"}},"shippingType":"delivery"}],"returns":[{"returnIdentifier":"r","status":"issue",
        "returnNumber":"1","returnManagementURL":"https://www.example.com/r","carrier":"C",
        "dropOffBy":"2026-02-01T10:00:00Z","initiatedAt":"2026-01-02T10:00:00Z","returnLabel":"label.pdf"}],
        "returnInfo":{"returnPolicyURL":"https://www.example.com/p","returnPolicyDescription":"30 days",
        "returnManagementURL":"https://www.example.com/r","returnDeadline":"9999-12-31T23:59:59Z","displayCountdown":true},
        "associatedApplications":[{"storeIdentifier":1,"launchURL":"app://o","customProductPageIdentifier":"c"}],
        "associatedApplicationIdentifiers":["TEAM.com.example.app"],"changeNotifications":"enabled"}
        """
}
