# SPDX-License-Identifier: Apache-2.0
"""Building packages against the bare RSA signature in each: one core, a 3 KB order with three images of 20 KB.

`openssl speed` and our own loop take turns on one core, each by the CPU time it used, so that what else runs weighs on both
alike; ours is held against the mean of the turns before and after it.
"""
import os, re, shutil, statistics, subprocess, sys, tempfile

ROUNDS = 7
MILLISECONDS = 1000


def reference():
    """RSA-2048 signatures a second of CPU time."""
    out = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", "rsa2048"], capture_output=True, text=True).stdout
    # +F2:index:bits:signatures a second:verifications a second
    return float(re.search(r"^\+F2:\d+:2048:([0-9.e+-]+):", out, re.M).group(1))


def main():
    program, walletorders = sys.argv[1], sys.argv[2]
    work = tempfile.mkdtemp(prefix="walletorders-bench-")
    try:
        folder = f"{work}/pki"
        subprocess.run([walletorders, "testpki", folder], check=True, capture_output=True)
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", f"{folder}/identity.key", "-passout", "pass:bench",
                        "-out", f"{folder}/locked.key"], check=True)

        def ours(part, milliseconds=MILLISECONDS):
            return float(subprocess.run([program, "sign", part, folder, str(milliseconds)], check=True,
                                        capture_output=True, text=True).stdout)

        parts = ("cached", "uncached", "encrypted", "verify")
        rates = {part: [] for part in parts}
        ratios = {part: [] for part in parts}
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cores)})
        bare = [reference()]
        for _ in range(ROUNDS):
            for part in parts:
                rates[part].append(ours(part))
                bare.append(reference())
                ratios[part].append(rates[part][-1] / statistics.mean(bare[-2:]))
        os.sched_setaffinity(0, cores)
        threads = ours("threads", 400)
        median = statistics.median
        print(f"{'':10} {'per CPU second':>15} {'of openssl':>11}   (medians of {ROUNDS} rounds)")
        print(f"{'openssl':10} {median(bare):15.0f} {1:11.2f}")
        for part in parts:
            print(f"{part:10} {median(rates[part]):15.0f} {median(ratios[part]):11.2f}")
        encrypted = median(e / c for e, c in zip(ratios["encrypted"], ratios["cached"]))
        print(f"sign/cached: {median(ratios['cached']):.2f} (aim 0.90 of openssl speed rsa2048 at least)")
        print(f"sign/uncached: {median(ratios['uncached']):.2f} (aim 0.70 of openssl speed rsa2048 at least)")
        print(f"sign/encrypted-key: {encrypted:.2f} (aim 1.00 of a plain key's, less what rounds differ by)")
        print(f"sign/two-threads: {threads:.2f} (aim 1.70 times one thread at least)")
        print(f"sign/verify: {median(rates['verify']):.0f} (aim 2000 packages a second at least)")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
