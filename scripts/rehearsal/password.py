# SPDX-License-Identifier: Apache-2.0
"""Sees that the compose file's services reach a database that asks for its password: password.py PATH/TO/walletorders.

Each service of ours that uses the database is given its environment from the file; only the host and the folders are this
machine's. The server is a PostgreSQL 15 made as its image makes one, with scram-sha-256 and nothing else.
"""
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import compose

PROGRAM = os.path.abspath(sys.argv[1])
POSTGRES = "/usr/lib/postgresql/15/bin"
# Every character that would have to be encoded in a URL, quoted in a keyword, or hidden from a shell.
PASSWORD = "p@ss/w#rd?%40 :&=\\'\"$ü"


def as_server():
    """PostgreSQL refuses to run as root."""
    if os.geteuid():
        return [], os.geteuid()
    user = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"], user.pw_uid


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(folder, port):
    prefix, owner = as_server()
    home = os.path.join(folder, "database")
    os.makedirs(home, mode=0o700)
    secret = os.path.join(home, "password")
    with open(secret, "w") as file:
        file.write(PASSWORD)
    for path in (home, secret):
        os.chown(path, owner, -1)
    data = os.path.join(home, "data")
    subprocess.run([*prefix, f"{POSTGRES}/initdb", "-D", data, "-U", "walletorders", "--pwfile", secret, "-A",
                    "scram-sha-256", "--encoding=UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd="/")
    log = open(os.path.join(folder, "log"), "w")
    server = subprocess.Popen(
        [*prefix, "setpriv", "--pdeathsig", "QUIT", f"{POSTGRES}/postgres", "-D", data, "-p", str(port), "-c",
         "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="], stdout=log, stderr=log, cwd="/")
    create = [f"{POSTGRES}/createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "walletorders", "walletorders"]
    end = time.monotonic() + 60
    while subprocess.run(create, env={"PGPASSWORD": PASSWORD}, capture_output=True, cwd="/").returncode:
        if time.monotonic() > end or server.poll() is not None:
            raise SystemExit("lint-deployment: the database did not start: " + open(log.name).read())
        time.sleep(0.1)
    return server


def environment(name, service, folder, port, password):
    """The service's own variables; its places are this machine's."""
    values = {"POSTGRES_PASSWORD": password, "CONFIG": "simulators.json"}
    variables = compose.environment(service, values)
    url = variables["WALLETORDERS_DATABASE"]
    if "@database/" not in url:
        raise SystemExit(f"lint-deployment: {name} asks another host than the service database: {url}")
    variables["WALLETORDERS_DATABASE"] = url.replace("@database/", f"@127.0.0.1:{port}/")
    config = variables["WALLETORDERS_CONFIG"]
    variables["WALLETORDERS_CONFIG"] = config.replace("/etc/walletorders", os.path.join(compose.HERE, "config"))
    variables["WALLETORDERS_DATA_DIR"] = os.path.join(folder, "data")
    return variables


def expect(status, words, variables):
    done = subprocess.run([PROGRAM, *words], env=variables, capture_output=True, text=True)
    if done.returncode != status:
        raise SystemExit(f"lint-deployment: {' '.join(words)} ended with {done.returncode}, not {status}: {done.stderr}")
    if PASSWORD in done.stdout + done.stderr:
        raise SystemExit(f"lint-deployment: {' '.join(words)} shows the password")


def main():
    folder = tempfile.mkdtemp(prefix="walletorders-password-")
    os.chmod(folder, 0o755)
    server = None
    try:
        port = free_port()
        server = start(folder, port)
        tried = 0
        for name, service in compose.services().items():
            # Those with another program in our image, and the test authority's, never ask the database.
            if service.get("image") != "walletorders" or service.get("profiles") or "entrypoint" in service:
                continue
            variables = environment(name, service, folder, port, PASSWORD)
            expect(0, ["config", "show", "--sources"], variables)
            expect(0, ["migrate"], variables)
            expect(0, ["keys", "list"], variables)
            expect(69, ["keys", "list"], environment(name, service, folder, port, "another"))
            tried += 1
        if tried < 3:
            raise SystemExit("lint-deployment: migrate, serve and worker were not all found in docker-compose.yml")
    finally:
        if server:
            server.terminate()
            server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


main()
