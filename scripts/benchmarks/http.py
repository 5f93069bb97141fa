# SPDX-License-Identifier: Apache-2.0
"""The engine against nginx: 20 KB bodies over HTTP/1.1 and over HTTP/2 with TLS, CPU a request, side by side.

Both serve with two threads or workers on loopback, from the same machine as the load. Requests a second swing with
whatever else runs; the CPU time of the server divided by the requests that were answered swings less.

It swings all the same, by how warm the caches are left and how fast the machine is at the moment. So a figure is the
median of the rounds' ratios, not the ratio of the two medians: within a round the servers take turns of a second, one
first and last and the other between, so that what drifts weighs on both alike and cancels, and a round that something
disturbs counts as one.
The medians of the table may come from different rounds; their quotient is near the figure, but it is not the figure.
"""
import os, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

ROUNDS = 9  # one round may give 0.9 or 1.4 where others work on the machine
SECONDS = 1  # a turn


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu(pids):
    # What clock_getcpuclockid gives: the CPU clock of another process, in nanoseconds. /proc counts in hundredths.
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def children(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(p) for p in out.split()]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


def wrk(port):
    out = subprocess.run(["wrk", "-t1", "-c64", f"-d{SECONDS}s", f"http://127.0.0.1:{port}/body"],
                         capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise SystemExit("wrk saw errors:\n" + out)
    return int(re.search(r"(\d+) requests in", out).group(1))


def h2load(port):
    out = subprocess.run(["h2load", "-t1", "-c16", "-m16", f"-D{SECONDS}", f"https://127.0.0.1:{port}/body"],
                         capture_output=True, text=True, check=True).stdout
    good = int(re.search(r"(\d+) succeeded", out).group(1))
    failed = int(re.search(r"(\d+) failed", out).group(1))
    codes = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", out)
    if failed or any(int(codes.group(i)) for i in (2, 3, 4)):
        raise SystemExit("h2load saw errors:\n" + out)
    return good


def main():
    program = sys.argv[1]
    work = tempfile.mkdtemp(prefix="walletorders-bench-")
    processes = []
    try:
        cert, key = f"{work}/cert.pem", f"{work}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", cert],
                       check=True, capture_output=True)
        os.makedirs(f"{work}/html")
        with open(f"{work}/html/body", "wb") as f:
            f.write(b"x" * 20 * 1024)
        os.chmod(work, 0o755)
        ports = {"nginx": (free_port(), free_port()), "engine": (free_port(), free_port())}
        h1, h2 = ports["nginx"]
        with open(f"{work}/nginx.conf", "w") as f:
            f.write(f"""
worker_processes 2; daemon off; pid {work}/nginx.pid; error_log {work}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; keepalive_requests 1000000000;
  http2_max_requests 1000000000; default_type application/octet-stream;
  client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
  uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5;
  server {{ listen 127.0.0.1:{h1} reuseport; root {work}/html; }}
  server {{ listen 127.0.0.1:{h2} ssl http2 reuseport; ssl_certificate {cert}; ssl_certificate_key {key}; root {work}/html; }}
}}
""")
        nginx = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", f"{work}/nginx.conf"],
                                 stderr=subprocess.DEVNULL)
        processes.append(nginx)
        e1, e2 = ports["engine"]
        engine = subprocess.Popen([program, "http-server", str(e1), str(e2), cert, key])
        processes.append(engine)
        for pair in ports.values():
            for port in pair:
                wait_for(port)
        pids = {"nginx": children(nginx.pid), "engine": [engine.pid]}
        loads = {"HTTP/1.1": (wrk, 0), "h2 + TLS": (h2load, 1)}
        figures = {}
        for number in range(ROUNDS):
            first, second = ("nginx", "engine") if number % 2 == 0 else ("engine", "nginx")
            turns = (first, second, second, first)
            for protocol, (load, index) in loads.items():
                spent, requests = dict.fromkeys(pids, 0), dict.fromkeys(pids, 0)
                for server in turns:
                    before = cpu(pids[server])
                    requests[server] += load(ports[server][index])
                    spent[server] += cpu(pids[server]) - before
                for server in pids:
                    seconds = turns.count(server) * SECONDS
                    figures.setdefault((protocol, server), []).append(
                        (spent[server] / requests[server] * 1e6, requests[server] / seconds))
        print(f"{'protocol':10} {'server':8} {'CPU us/request':>15} {'requests/s':>12}   (medians of {ROUNDS} rounds)")
        ratios = {}
        for protocol in loads:
            for server in ("nginx", "engine"):
                rounds = figures[(protocol, server)]
                print(f"{protocol:10} {server:8} {statistics.median(r[0] for r in rounds):15.1f} "
                      f"{statistics.median(r[1] for r in rounds):12.0f}")
            ratios[protocol] = [
                e[0] / n[0] for e, n in zip(figures[(protocol, "engine")], figures[(protocol, "nginx")])]
            print(f"{protocol:10} engine / nginx, round by round: " + " ".join(f"{r:.2f}" for r in ratios[protocol]))
        print(f"http/http1: {statistics.median(ratios['HTTP/1.1']):.2f} (aim 1.30 times nginx's CPU a request at most)")
        print(f"http/h2-tls: {statistics.median(ratios['h2 + TLS']):.2f} (aim 1.30 times nginx's CPU a request at most)")
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(work, ignore_errors=True)


main()
