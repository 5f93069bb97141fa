# SPDX-License-Identifier: Apache-2.0
"""Orders that a sender could make up to cost much, of any size."""
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "order.json"), encoding="utf-8") as f:
    ORDER = f.read().rstrip()
OPEN = ORDER.removesuffix("}") + ","


def kinds(size):
    """Texts of about `size` bytes, by kind."""
    room = size - len(OPEN)

    def repeated(one):
        """As many of `one(number)` as there is room for, with commas between them."""
        parts, left, number = [], room, 0
        while left > 0:
            part = one(number)
            parts.append(part)
            left -= len(part.encode()) + 1
            number += 1
        return ",".join(parts)

    def members(one):
        return OPEN + repeated(one) + "}"

    def listed(name, one):
        """More in front of what a list of the order has."""
        return ORDER.replace(f'"{name}":[', f'"{name}":[' + repeated(one) + ",", 1)

    def said(old, new):
        """One text of the order in other words."""
        assert f'"{old}"' in ORDER
        return ORDER.replace(f'"{old}"', f'"{new}"', 1)

    marks = "a" + "\u0301\u0323" * (room // 4 - 20)
    yield from nesting_and_numbers(size, room, members, listed)
    yield from names(members, marks)
    yield from long_texts(room, said, listed, marks)
    yield from many_findings(room, members, listed)
    yield from cross_checks(room, listed)


def nesting_and_numbers(size, room, members, listed):
    yield "open brackets", "[" * size
    yield "nested arrays", OPEN + '"returns":[' + ",".join(["[" * 50 + "]" * 50] * (room // 101)) + "]}"
    yield "nested objects", members(lambda n: f'"k{n}":' + '{"a":' * 60 + "1" + "}" * 60)
    yield "objects of 26 members", OPEN + '"x":[' + ",".join(
        ["{" + ",".join(f'"{name}":[]' for name in "abcdefghijklmnopqrstuvwxyz") + "}"] * (room // 183)) + "]}"
    yield "blanks", ORDER.replace("{", "{" + " " * room, 1)
    yield "lines before a fault", ORDER.replace("{", "{" + "\r\n" * (room // 2), 1) + "x"
    yield "long numbers", OPEN + '"returns":[' + ",".join(["9" * 999] * (room // 1000)) + "]}"
    yield "short numbers", OPEN + '"returns":[' + ",".join("1" * (room // 2)) + "]}"
    yield "items with long amounts", listed("lineItems", lambda n:
        '{"title":"A","quantity":1e-99999999,"price":{"amount":1e99999999,"currency":"USD"}}')
    yield "items with long quantities", listed("lineItems", lambda n: '{"title":"A","quantity":' + "9" * 990 + "}")
    yield "items with long exponents", listed("lineItems", lambda n:
        '{"title":"A","quantity":1' + "0" * 900 + "e-999999999999}")
    yield "long numbers of apps", listed("associatedApplications", lambda n: '{"storeIdentifier":' + "9" * 300 + "}")


def names(members, marks):
    yield "many members", members(lambda n: f'"k{n}":1')
    yield "a name twice, at the end", members(lambda n: f'"k{n}":1')[:-1] + ',"k1":1}'
    yield "names that differ in accents", members(
        lambda n: '"' + "".join("é" if n >> b & 1 else "e\u0301" for b in range(17)) + '":1')
    yield "names of escapes", members(lambda n: '"' + "\\u0000" * 6 + f'{n}":1')
    yield "names with signs of pointers", members(lambda n: f'"~/~{n}":1')
    yield "near misses of a name", members(lambda n: f'"orderManagementUR{n}":1')
    yield "a member's name of marks", OPEN + '"' + marks + '":1}'


def long_texts(room, said, listed, marks):
    yield "one long escaped text", OPEN + '"associatedApplicationIdentifiers":["' + "\\u00e9\\n" * (room // 8) + '"]}'
    yield "a note of surrogate pairs", said("Leave it with a neighbour.", "\\ud83d\\ude00" * (room // 12))
    yield "one long identifier", said("2026-01-4711", "é" * (room // 2))
    yield "one long URL", said("https://www.example.com/orders/4711", "https://e/" + "a%20" * (room // 4))
    yield "links of 8 KB", listed("fulfillments", lambda n: '{"trackingURL":"https://e/' + "a%20" * 1990 + '"}')
    yield "an address of slashes", said("https://wallet.example.com/", "https://e/" + "/" * 7900)
    yield "one long file name", said("logo.png", "/a" * (room // 2))
    yield "files in folders", listed("lineItems", lambda n: '{"title":"A","quantity":1,"image":"' + "a/" * 100 + 'b"}')
    yield "hidden files", listed("lineItems", lambda n: f'{{"title":"A","quantity":1,"image":"a/b/.{n}"}}')
    yield "one long duration", said("PT4H", "P" + "1" * room + "D")
    yield "one long barcode", ORDER.replace('"message":"4711"', '"message":"' + "é" * (room // 2) + '"', 1)
    yield "texts that are dates", OPEN + '"associatedApplicationIdentifiers":[' + ",".join(
        ['"2026-01-01T10:00:00Z"'] * (room // 23)) + "]}"
    yield "a title of combining marks", said("Tea pot", marks)
    yield "titles of combining marks", listed("lineItems", lambda n:
        '{"quantity":1,"title":"' + "a" * 120 + "\u0301\u0323" * 30 + '"}')
    yield "a title of families", said("Tea pot", "\U0001F468\u200d\U0001F469\u200d" * (room // 14))
    yield "a title of flags", said("Tea pot", "\U0001F1E6" * (room // 4))
    yield "a title of conjuncts", said("Tea pot", "\u0915\u094d" * (room // 6))
    yield "a status of combining marks", listed_once("fulfillments", '{"status":"' + marks + '"}')
    yield "an identifier of them", said("2026-01-4711", marks)
    yield "an encoding of them", said("iso-8859-1", marks)
    yield "a file name of them", said("logo.png", marks)


def listed_once(name, value):
    return ORDER.replace(f'"{name}":[', f'"{name}":[{value},', 1)


def many_findings(room, members, listed):
    def price(n):
        return "ABCDEFGHIJ"[n % 10] + "abcdefghij"[n // 10 % 10] + "KLMNOPQRST"[n // 100 % 10]

    yield "items in unknown currencies", listed("lineItems", lambda n:
        f'{{"title":"A","quantity":1,"price":{{"amount":"1.00","currency":"{price(n)}"}}}}')
    yield "items with strange amounts", listed("lineItems", lambda n:
        '{"title":"A","quantity":1,"price":{"amount":"' + "\u0661" * 20 + '1.299,00 $","currency":"USD"}}')
    yield "items of nothing", listed("lineItems", lambda n: '{"title":null,"quantity":null,"price":null,"image":null}')
    yield "empty items", listed("lineItems", lambda n: "{}")
    yield "parcels of one name", listed("fulfillments", lambda n:
        '{"fulfillmentType":"shipping","fulfillmentIdentifier":"x","status":"open"}')
    yield "parcels without type", listed("fulfillments", lambda n: "{}")
    yield "parcels of misspelt members", listed("fulfillments", lambda n:
        f'{{"pickupX{n}":1,"pickupY":2,"status":"pickedUp"}}')
    yield "parcels with a status misspelt", listed("fulfillments", lambda n:
        f'{{"fulfillmentType":"shipping","status":"outForDeliverie{n}"}}')
    yield "parcels with dates out of order", listed("fulfillments", lambda n:
        '{"shippedAt":"2020-01-01T00:00:00Z","deliveredAt":"2019-01-01T00:00:00.5Z","status":"open"}')
    yield "parcels with bad dates", listed("fulfillments", lambda n:
        '{"shippedAt":"2020-01-01T00:00","deliveredAt":"' + "\u0301" * 20 + '"}')
    yield "pickups in unknown countries", listed("fulfillments", lambda n:
        f'{{"fulfillmentType":"pickup","address":{{"countryCode":"{("KOSOVA", "uk", "xx", "DDR")[n % 4]}"}}}}')
    yield "pickups with strange barcodes", listed("fulfillments", lambda n:
        f'{{"fulfillmentType":"pickup","barcode":{{"format":"qr","message":"","messageEncoding":"isolatin{n}"}}}}')


def cross_checks(room, listed):
    yield "items that share numbers", listed("lineItems", lambda n:
        f'{{"title":"T","sku":"{n}","gtin":"{n // 2}","quantity":1}}')
    count = room // 120

    def parts(name, one):
        return f'"{name}":[' + ",".join(one(n) for n in range(count)) + "],"

    rest = ORDER.replace('"lineItems":[', '"x":[', 1).replace('"fulfillments":[', '"y":[', 1)
    yield "parcels and returns of each item", ("{" + parts("lineItems", lambda n: f'{{"title":"T{n}","quantity":1}}')
        + parts("fulfillments", lambda n: f'{{"lineItems":[{{"title":"t{n}","quantity":9}}]}}')
        + parts("returns", lambda n: f'{{"lineItems":[{{"title":"t{n // 7}","quantity":9}}]}}') + rest[1:])
    yield "summary lines", listed("summaryItems", lambda n:
        f'{{"label":"x","value":{{"amount":"0.0{n}","currency":"USD"}}}}')
    yield "payments in an old currency", listed("transactions", lambda n:
        f'{{"amount":{{"amount":"0.00{n}","currency":"AFA"}},"status":"completed"}}')
