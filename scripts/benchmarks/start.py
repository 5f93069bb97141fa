# SPDX-License-Identifier: Apache-2.0
"""How soon the program serves, how much memory it keeps while it waits, and how long the whole demo takes.

`run` with a new data directory each round makes its database; a second start finds it. Ready is what the phone meets: the
moment that the admin listener answers, counted from the start of the process. `serve` runs on the database of a `run`.
"""
import json, os, re, shutil, socket, statistics, subprocess, sys, tempfile, time

ROUNDS = 5
# What stands still may still be giving back what it used to start.
SETTLE_SECONDS = 3
LISTENERS = [f"--{name}-listen=127.0.0.1:0" for name in ("device", "merchant", "admin")]
APNS = "--apns-simulator-listen=127.0.0.1:0"


def started(arguments, pattern):
    """Starts the program; its process, what the pattern found in its output, and the milliseconds until it was ready."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(pattern, said)
        if found:
            # By hand: http.py beside this file hides the library's package of that name.
            host, port = found[1].split(":")
            with socket.create_connection((host, int(port)), timeout=10) as peer:
                peer.sendall(f"GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                assert b" 200 " in peer.recv(4096)
            return process, found[1], (time.monotonic() - begin) * 1000
    sys.exit(f"{' '.join(arguments)} ended with {process.wait()}:\n{said}")


def end(process):
    process.terminate()
    process.stdout.read()
    if process.wait(timeout=30) != 0:
        sys.exit(f"the program ended with {process.returncode}")


def resident(process):
    """The memory of a process that is in place, in MB (VmRSS)."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) / 1000


def main():
    program = sys.argv[2]
    # PostgreSQL's server runs as another user when this is root, and must reach its folder.
    work = tempfile.mkdtemp(prefix="wo-bench-", dir="/tmp")
    os.chmod(work, 0o711)
    admin = r"admin\s+http://([0-9.:]+)"
    try:
        created, existing, demos = [], [], []
        for number in range(ROUNDS):
            data = f"{work}/{number}"
            for times in (created, existing):
                process, _, milliseconds = started([program, "run", "--data-dir", data, *LISTENERS, APNS], admin)
                times.append(milliseconds)
                end(process)
            begin = time.monotonic()
            subprocess.run([program, "run", "--demo", "--data-dir", f"{work}/demo{number}"], check=True, capture_output=True)
            demos.append(time.monotonic() - begin)

        owner, _, _ = started([program, "run", "--data-dir", f"{work}/0", *LISTENERS, APNS], admin)
        pki = f"{work}/pki"
        subprocess.run([program, "testpki", pki], check=True, capture_output=True)
        with open(f"{work}/config.json", "w") as file:
            json.dump({"dataDir": f"{work}/0", "orderTypes": {"order.com.example.shop": {
                "identity": f"{pki}/identity.pem", "key": f"{pki}/identity.key",
                "intermediates": f"{pki}/intermediate.pem", "webServiceURL": "https://127.0.0.1:8080/"}}}, file)
        environment = {"PATH": "/usr/bin:/bin", "WALLETORDERS_DATABASE":
                       f"postgres://postgres@/walletorders?host={work}/0/socket"}
        process = subprocess.Popen([program, "serve", "--config", f"{work}/config.json", *LISTENERS],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        said = ""
        while '"ready"' not in said:
            line = process.stdout.readline()
            said += line
            if not line:
                sys.exit(f"serve ended with {process.wait()}: {said}")
        time.sleep(SETTLE_SECONDS)
        idle = resident(process)
        end(process)
        end(owner)

        median = statistics.median
        print(f"{'':24} {'median':>8} {'slowest':>8}   ({ROUNDS} rounds)")
        print(f"{'ready, database there':24} {median(existing):5.0f} ms {max(existing):5.0f} ms")
        print(f"{'ready, database made':24} {median(created):5.0f} ms {max(created):5.0f} ms")
        print(f"{'demo':24} {median(demos):6.1f} s {max(demos):6.1f} s")
        print(f"start/ready: {median(existing):.0f} (aim 500 ms with an existing cluster at most)")
        print(f"start/ready-created: {median(created):.0f} (aim 3000 ms when the cluster must be made at most)")
        print(f"start/demo: {median(demos):.1f} (aim 10 s at most)")
        print(f"start/idle: {idle:.1f} (aim 30 MB resident of serve at most)")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
