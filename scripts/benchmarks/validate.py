# SPDX-License-Identifier: Apache-2.0
"""Validation against python-jsonschema with the same schema, and on hostile and large texts.

Each round measures one after the other, in CPU seconds of the process that works; figures are medians over the rounds.
Growth is the median of the rounds' ratios, for twice 1 MB and for twice 2 MB, and the worse of the two counts: within a
round the sizes take turns, so that what else runs on the machine weighs on all of them alike.
"""
import json, os, statistics, subprocess, sys, tempfile, time

from jsonschema import Draft202012Validator

import hostile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS = 15
HOSTILE_ROUNDS = 7
TURN = 0.03  # seconds that a turn on a hostile text takes at least: clocks and caches make shorter ones coarse


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

    print(f"\n{'hostile text':34} {'1 MB ms':>8} {'2 MB ms':>8} {'4 MB ms':>8} {'1 to 2':>7} {'2 to 4':>7} {'findings':>9}")
    worst = slowest = 0
    with tempfile.TemporaryDirectory(prefix="walletorders-bench-") as folder:
        for texts in zip(*(hostile.kinds(size) for size in (1_000_000, 2_000_000, 4_000_000))):
            kind = texts[0][0]
            turns = []
            for size, (_, content) in zip((1, 2, 4), texts):
                path = f"{folder}/{size}"
                with open(path, "w", encoding="utf-8", newline="") as f:
                    f.write(content)
                # The first time fills caches and heap; the next tells how many make a turn.
                measure(1, path)
                turns.append((max(1, round(TURN / max(measure(1, path)[0], 1e-6))), path))
            times = [[measure(*turn) for turn in turns] for _ in range(HOSTILE_ROUNDS)]
            first, second, third = (statistics.median(t[i][0] for t in times) for i in range(3))
            # What ends at the first bytes has no time to speak of.
            growths = [
                statistics.median(t[i + 1][0] / t[i][0] for t in times) if first > 0.0001 else 1 for i in range(2)
            ]
            worst, slowest = max(worst, *growths), max(slowest, first)
            print(f"{kind:34} {first * 1e3:8.2f} {second * 1e3:8.2f} {third * 1e3:8.2f} {growths[0]:7.2f} {growths[1]:7.2f}"
                  f" {times[0][0][1]:9}", flush=True)
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
