# SPDX-License-Identifier: Apache-2.0
"""Validation against python-jsonschema with the same schema, and on hostile and large texts.

Each round measures one after the other, in CPU seconds of the process that works; figures are medians over the rounds.
"""
import json, os, statistics, subprocess, sys, tempfile, time

from jsonschema import Draft202012Validator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS = 15


def hostile(size):
    """Texts of a size that a sender could make up, by kind."""
    with open(os.path.join(ROOT, "scripts/benchmarks/order.json"), encoding="utf-8") as f:
        order = f.read().rstrip().removesuffix("}") + ","
    room = size - len(order)

    def members(one):
        parts, left, number = [], room, 0
        while left > 0:
            part = one(number)
            parts.append(part)
            left -= len(part.encode()) + 1
            number += 1
        return order + ",".join(parts) + "}"

    deep = '[' * 50 + ']' * 50
    yield "open brackets", "[" * size
    yield "nested arrays", order + '"returns":[' + ",".join([deep] * (room // 101)) + "]}"
    yield "many members", members(lambda n: f'"k{n}":1')
    yield "names that differ in accents", members(lambda n: '"' + "".join("é" if n >> b & 1 else "e\u0301" for b in range(17)) + '":1')
    yield "near misses of a name", members(lambda n: f'"orderManagementUR{n}":1')
    yield "one long escaped text", order + '"associatedApplicationIdentifiers":["' + "\\u00e9\\n" * (room // 8) + '"]}'
    yield "one long identifier", order.replace('"2026-01-4711"', '"' + "é" * (room // 2) + '"').rstrip(",") + "}"
    yield "one long URL", order.replace('"https://www.example.com/orders/4711"', '"https://e/' + "a%20" * (room // 4) + '"').rstrip(",") + "}"
    yield "one long file name", order.replace('"logo.png"', '"' + "/a" * (room // 2) + '"').rstrip(",") + "}"
    yield "one long duration", order.replace('"PT4H"', '"P' + "1" * room + 'D"').rstrip(",") + "}"
    yield "long numbers", order + '"returns":[' + ",".join(["9" * 999] * (room // 1000)) + "]}"
    yield "items with long amounts", order.replace('"lineItems":[', '"lineItems":[' + "".join(
        ['{"title":"A","quantity":1e-99999999,"price":{"amount":1e99999999,"currency":"USD"}},'] * (room // 87)), 1).rstrip(",") + "}"
    yield "parcels of one name", order.replace('"fulfillments":[', '"fulfillments":[' + "".join(
        ['{"fulfillmentType":"shipping","fulfillmentIdentifier":"x","status":"open"},'] * (room // 77)), 1).rstrip(",") + "}"
    yield "parcels without type", order.replace('"fulfillments":[', '"fulfillments":[' + "{}," * (room // 3), 1).rstrip(",") + "}"
    marks = "a" + "\u0301\u0323" * (room // 4 - 20)
    yield "a title of combining marks", order.replace('"lineItems":[', '"lineItems":[{"quantity":1,"title":"' + marks + '"},', 1).rstrip(",") + "}"
    yield "a status of combining marks", order.replace('"fulfillments":[', '"fulfillments":[{"status":"' + marks + '"},', 1).rstrip(",") + "}"
    yield "an identifier of them", order.replace('"2026-01-4711"', '"' + marks + '"').rstrip(",") + "}"
    yield "an encoding of them", order.replace('"messageEncoding":"iso-8859-1"', f'"messageEncoding":"{marks}"', 1).rstrip(",") + "}"
    yield "a file name of them", order.replace('"logo.png"', '"' + marks + '"').rstrip(",") + "}"
    yield "a member's name of them", order + '"' + marks + '":1}'
    yield "texts that are dates", order + '"associatedApplicationIdentifiers":[' + ",".join(
        ['"2026-01-01T10:00:00Z"'] * (room // 23)) + "]}"


def many_items(count):
    with open(os.path.join(ROOT, "scripts/benchmarks/order.json"), encoding="utf-8") as f:
        order = json.load(f)
    order["lineItems"] = [{"title": f"Item {n}", "subtitle": "One of many", "quantity": 1, "sku": f"S-{n}",
                           "price": {"amount": "1.25", "currency": "USD"}, "image": "item.png"} for n in range(count)]
    return json.dumps(order)


def main():
    with open(os.path.join(ROOT, "Schemas/order.schema.json"), encoding="utf-8") as f:
        validator = Draft202012Validator(json.load(f), format_checker=Draft202012Validator.FORMAT_CHECKER)
    sample = os.path.join(ROOT, "scripts/benchmarks/order.json")
    with open(sample, encoding="utf-8") as f:
        text = f.read()
    assert not list(validator.iter_errors(json.loads(text)))
    ours = subprocess.Popen([sys.argv[1], "validate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(count, path):
        ours.stdin.write(f"{count} {path}\n")
        ours.stdin.flush()
        seconds, findings = ours.stdout.readline().split()
        return float(seconds) / count, int(findings)

    def theirs(count):
        start = time.process_time()
        for _ in range(count):
            for _ in validator.iter_errors(json.loads(text)):
                pass
        return (time.process_time() - start) / count

    assert measure(100, sample)[1] == 0, "the sample is not free of findings"
    theirs(5)
    rounds = []
    for _ in range(ROUNDS):
        rounds.append((measure(1000, sample)[0], theirs(30)))
    print(f"an order of {len(text.encode())} bytes: parse, shape and rules   (medians of {ROUNDS} rounds)")
    print(f"  walletorders       {statistics.median(o for o, _ in rounds) * 1e6:10.1f} us")
    print(f"  python-jsonschema  {statistics.median(t for _, t in rounds) * 1e6:10.1f} us   (parse and schema)")
    ratio = statistics.median(t / o for o, t in rounds)

    print(f"\n{'hostile text':30} {'1 MB ms':>9} {'2 MB ms':>9} {'ratio':>6} {'findings':>9}")
    worst = slowest = 0
    with tempfile.TemporaryDirectory(prefix="walletorders-bench-") as folder:
        for (kind, small), (_, large) in zip(hostile(1_000_000), hostile(2_000_000)):
            paths = []
            for name, content in (("small", small), ("large", large)):
                paths.append(f"{folder}/{name}")
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(content)
            times = []
            for _ in range(5):
                first, findings = measure(3, paths[0])
                second, _ = measure(3, paths[1])
                times.append((first, second))
            first, second = (statistics.median(t[i] for t in times) for i in (0, 1))
            # What ends at the first bytes has no time to speak of.
            growth = second / first if first > 0.001 else 1
            worst, slowest = max(worst, growth), max(slowest, first)
            print(f"{kind:30} {first * 1e3:9.2f} {second * 1e3:9.2f} {growth:6.2f} {findings:9}")
        items = many_items(10_000)
        with open(f"{folder}/items", "w", encoding="utf-8") as f:
            f.write(items)
        large = statistics.median(measure(3, f"{folder}/items")[0] for _ in range(9)) * 1e3
    print(f"\n10,000 line items, {len(items) / 1e6:.1f} MB: {large:.1f} ms")
    ours.stdin.close()
    ours.wait()
    print(f"validate/order: {ratio:.1f} (aim 10 times as fast as python-jsonschema at least)")
    print(f"validate/hostile-growth: {worst:.2f} (aim 2.50 times the time for twice the text at most)")
    print(f"validate/hostile-slowest: {slowest * 1e3:.0f} (aim 300 ms for 1 MB at most)")
    print(f"validate/10000-items: {large:.1f} (aim 50 ms at most)")


main()
