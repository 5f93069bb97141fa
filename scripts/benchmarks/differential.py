# SPDX-License-Identifier: Apache-2.0
"""Our verdicts on changed orders against those of python-jsonschema with the same schema.

An order is taken from a good one by a few changes of the kinds that people and programs make. Three answer whether its
shape is right: the checks that merchants meet, our JSON Schema validator, and python-jsonschema. All must agree.

Two things its format checks can't do, so such differences are counted apart: rfc3339-validator takes neither a leap second
nor the year 0, both of which RFC 3339 has. Numbers are of values that a binary fraction holds, because json.loads makes
floats of them; texts are whole characters, because our parser refuses halves of surrogate pairs as RFC 8259 advises.
"""
import copy, json, os, random, re, subprocess, sys, threading

from jsonschema import Draft202012Validator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "Tests/OrderModelTests/Fixtures")

DATES = """2026-01-01T10:00:00Z 2026-01-01t10:00:00z 2026-01-01T10:00:00+01:00 2026-01-01T10:00:00-23:59
2026-01-01T10:00:00+24:00 2026-01-01T10:00:00+01:60 2026-01-01T10:00:00.5Z 2026-01-01T10:00:00.Z 2026-01-01T10:00:00,5Z
2026-01-01T10:00Z 2026-01-01T10:00:00 2026-01-01 2026-13-01T10:00:00Z 2026-02-29T10:00:00Z 2024-02-29T10:00:00Z
2100-02-29T10:00:00Z 2000-02-29T10:00:00Z 2026-04-31T10:00:00Z 2026-01-00T10:00:00Z 2026-01-01T24:00:00Z
2026-01-01T23:60:00Z 2026-01-01T23:59:61Z 2016-12-31T23:59:60Z 2016-12-31T22:59:60Z 20260101T100000Z 2026-1-1T1:0:0Z
2026-W01-1T10:00:00Z -2026-01-01T10:00:00Z 12026-01-01T10:00:00Z 2026-01-01T10:00:00+0100 2026-01-01T10:00:00+01
0000-01-01T00:00:00Z 9999-12-31T23:59:59Z 9999-12-31T23:59:59-00:01 /Date(1487415600000-0000)/ 1767261600""".split()
DATES += ["2026-01-01 10:00:00Z", "2026-01-01T10:00:00Z\n", " 2026-01-01T10:00:00Z", "２０２６-01-01T10:00:00Z",
          "2026-01-01T10:00:00\u221201:00", "2026-01-01T10:00:00." + "1" * 43 + "Z", "2026-01-01T10:00:00." + "1" * 44 + "Z"]
DURATIONS = """PT30M P1D P1W P0Y0M0DT0H30M0S P1Y2M3DT4H5M6S PT1H30S P1Y3D P1YT6S P PT P1DT P1W1D P1WT1H PT1.5H PT1,5H -PT1H
+PT1H PT-1H P1H PT1D PT1M1H P1M1Y pt1h P1 1H PT1HT1M PT1H1H PT123456789S PT1234567890S P0D P00001D P1S PT1Y PT1W
P0001-00-00T00:00:00 1800""".split() + ["PT1H\n", "PT 1H", "P１D"]
URLS = """https://www.example.com/ http://www.example.com HTTPS://WWW.EXAMPLE.COM/A https://example.com:443/a https://example.com:/a
https://example.com:port/ https://:443/ https:// https:/a https:a https: http://user@/ http://user@:80/ http://u:p@example.com/
http://a@b@example.com/ https://example.com/ü https://exämple.com/ https://example.com/%C3%BC https://example.com/%
https://example.com/%2 https://example.com/%GG https://example.com/a|b https://example.com/{a} https://example.com/a^b
https://example.com/<a> https://example.com/\\ https://example.com/?a=b&c=d#e https://example.com/#a#b https://example.com/?[]
https://[::1]/ https://[::1]:8080/v1 https://[2001:db8::1]/ https://[::1 https://::1/ https://[1:2:3:4:5:6:7:8]/
https://[1:2:3:4:5:6:7:8:9]/ https://[::ffff:192.0.2.1]/ https://[::256.0.0.1]/ https://[v1.a:b]/ https://[vz.a]/
https://[1::2::3]/ https://[1:2:3:4:5:6:7::]/ https://[::2:3:4:5:6:7:8]/ https://[12345::]/ https://192.0.2.1/ //example.com/a
/a/b a mailto:a@example.com mailto: tel:+1-201-555-0123 urn:a:b foo:// foo://?a foo:/ file:///a 1http://example.com
ht+tp://example.com https://example.com/v1 https://example.com/v1/ https://example.com/a/v1 https://example.com//v1 https://v1
https://v1/ https://example.com/v1/a https://example.com/V1 https://example.com?/v1 https://example.com#/v1
javascript:alert(1) https://a..b/ https://-a/""".split()
URLS += ["https://example.com/a b", "https://example.com/\n", "https://example.com\n", "\nhttps://example.com",
         "https://example.com/\t", "https://example.com/\0", "https://example.com/\x7f", "ht tp://example.com",
         "https://example.com/" + "a" * 1980, "https://example.com/" + "a" * 1981]
WORDS = """open Open completed cancelled canceled shipped pickedUp readyForPickup shipping pickup delivery ecommerce paid USD usd US
us USA XX U1 logo.png .png ../a.png a/b.png de.lproj/logo.png pt-BR.lproj/a.png zh-Hans-CN.lproj/a de.lproj/ de.lproj/.a
deutsch.lproj/a es-419.lproj/a ä.png . .. ... a/.. a/../b ./a a/. a//b /a a/ / c:a :: é:a a: a/b/c images/logo.png order.com.example.shop order order. .order order..a order.com.exämple 0123456789abcdef
0123456789abcde qr enabled disabledIfAppInstalled null true""".split()
WORDS += ["", " ", "a\\b", "a\x7f", "\x9ba", "Logo groß.png", "a/\n", "..\n", "open ", "US\n", "USD\n", "SE\u212a", "\u212aE", "a.png\n", "a b.png", "order.com.example\n",
          "0123456789abcde ", "0123456789abcdef\n", "é" * 17, "a\0b", "a\x85b", "\x9f", "\xa0", "😀", "e\u0301", "a" * 100, "a" * 101,
          "a" * 255, "a" * 256, "é" * 127, "é" * 200, "é" * 200 + "\1", "😀" * 256, "order." + "a" * 249, "order." + "a" * 250]
SPELLINGS = """0 -0 0.0 -0.0 0e5 1 1.0 1e2 1E+2 100e-2 2 2.0 20e-1 3 -1 28.8 1.5 0.25 90 90.5 -90 180 -180 181 1e-3 123456789012
9007199254740993 9223372036854775807 9223372036854775808 1e15 1e30 12345678901234567890123456789012""".split()
NUMBER_TEXTS = """+1 1. .5 -.5 - 1,00 0x10 1e2x NaN Infinity ٣ 000 00.10 123456789012345678901234567890123
0.0000000000000000000000000000001""".split() + ["1 000", "1\n"]
NAMES = ["status", "x", "fulfillmentType", "amount", "null", "", "webServiceURL", "authenticationToken", "schemaVersion", "payment",
         "lineItems", "carrier", "displayName", "quantity", "image", "countryCode", "location", "returns", "merchant", "K",
         "\u212a", "é", "e\u0301"]
CHARACTERS = "aZ09.-_:/@?#%[]+T \n\t\0\x7f\x85\x9f\xa0é\u212a\u2028😀\u0301"


class Spelling(float):
    """A number that is written as it was spelt."""

    def __new__(cls, text):
        number = super().__new__(cls, float(text))
        number.text = text
        return number

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return self.text


def nested(depth, wrap):
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value


VALUES = [None, True, False, [], {}, [None], [[]], {"status": "open"}, {"amount": "1", "currency": "USD"},
          nested(30, lambda v: [v]), nested(30, lambda v: {"a": v}),
          {"fulfillmentType": "pickup", "fulfillmentIdentifier": "q", "status": "open", "displayName": "S"},
          {"fulfillmentType": "shipping", "fulfillmentIdentifier": "t", "status": "shipped"},
          {"title": "A", "quantity": 1}, {"returnIdentifier": "r2", "status": "open"}]
VALUES += [Spelling(s) for s in SPELLINGS] + SPELLINGS + NUMBER_TEXTS + WORDS


class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.orders = []
        for name in sorted(os.listdir(SAMPLES)):
            if name.startswith("order-") and name.endswith(".json"):
                with open(os.path.join(SAMPLES, name), encoding="utf-8") as f:
                    self.orders.append(json.load(f, parse_float=Spelling))
        with open(os.path.join(ROOT, "scripts/benchmarks/order.json"), encoding="utf-8") as f:
            self.orders += [json.load(f, parse_float=Spelling)] * 3

    def order(self):
        order = copy.deepcopy(self.random.choice(self.orders))
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])):
            order = self.change(order, 0)
        return order

    def value(self):
        return copy.deepcopy(self.random.choice(VALUES))

    def text(self):
        return self.random.choice(self.random.choice([DATES, DURATIONS, URLS, WORDS, SPELLINGS + NUMBER_TEXTS]))

    def change(self, value, depth):
        r = self.random
        if isinstance(value, dict) and value and r.random() < (0.99 if depth == 0 else 0.85):
            name = r.choice(list(value))
            kind = r.randrange(16)
            if kind == 0:
                del value[name]
            elif kind == 1:
                value[name] = None
            elif kind == 2:
                value[r.choice(NAMES)] = self.value()
            elif kind == 3:
                member = value.pop(name)
                value[r.choice([name.lower(), name + "s", name[:-1], name.upper()])] = member
            elif kind == 4:
                value[name] = self.value()
            elif kind == 5:
                value[r.choice(NAMES)] = self.text()
            else:
                value[name] = self.change(value[name], depth + 1)
            return value
        if isinstance(value, list) and value and r.random() < 0.85:
            index = r.randrange(len(value))
            kind = r.randrange(10)
            if kind == 0:
                del value[index]
            elif kind == 1:
                value.append(copy.deepcopy(value[index]))
            elif kind == 2:
                value.insert(index, self.value())
            else:
                value[index] = self.change(value[index], depth + 1)
            return value
        if isinstance(value, str) and r.random() < 0.85:
            kind = r.randrange(6)
            if kind == 0:
                place = r.randrange(len(value) + 1)
                return value[:place] + r.choice(CHARACTERS) + value[place + r.randrange(2):]
            if kind == 1:
                return value + r.choice(["\n", " ", "Z", "0", "\r\n", "/v1", "/", "é", "\u0301", "?a", "#"])
            return self.text()
        return self.value()


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(os.path.join(ROOT, "Schemas/order.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    for name in ("date-time", "uri"):
        assert name in validator.format_checker.checkers, f"no check of the format {name}"
    mutator = Mutator(seed)
    lines = [json.dumps(mutator.order(), ensure_ascii=mutator.random.random() < 0.5) for _ in range(count)]
    ours = subprocess.Popen([program, "verdicts"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        for line in lines:
            ours.stdin.write(line.encode() + b"\n")
        ours.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    valid = known = 0
    differences = []
    for line in lines:
        answer = ours.stdout.readline().split()
        theirs = b"1" if validator.is_valid(json.loads(line)) else b"0"
        if answer == [theirs, theirs]:
            valid += theirs == b"1"
        elif answer == [b"1", b"1"] and re.search(r'"[0-9-]{10}[Tt][0-9:]{5}:60[^"]*"|"0000-[^"]*"', line):
            known += 1
        else:
            errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(json.loads(line))]
            differences.append((answer, theirs, errors, line))
    for answer, theirs, errors, line in differences[:10]:
        print(f"checks and schema say {answer}, python-jsonschema {theirs}: {errors}\n  {line}")
    print(f"{count} orders, {valid} of them valid: {len(differences)} differences, "
          f"{known} leap seconds and years 0 that rfc3339-validator does not take")
    if ours.wait() != 0 or differences or not count // 20 < valid < count * 19 // 20:
        raise SystemExit(1)


main()
