# SPDX-License-Identifier: Apache-2.0
"""Plays docker-compose.yml with its profile "simulators" in network namespaces: deployment.py FOLDER-OF-THE-PROGRAMS.

Of each service the command, environment, user, volumes, and what it waits for are taken from the file as they are. Images
are replaced by this machine's programs: ours, Debian's PostgreSQL 15, Debian's Caddy. Then an order is created, fetched
through the proxy by a simulated iPhone, changed, pushed and pulled again.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import compose

BIN = os.path.abspath(sys.argv[1])
CONTAINER_USER = 10001  # as in the Dockerfile
NOBODY = 65534
NETWORK = "172.28.77"
VALUES = {"POSTGRES_PASSWORD": "rehearsal", "CONFIG": "simulators.json"}
PREFIX = "wor-"


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def wait(what, check, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.2)
    raise SystemExit(f"rehearsal: {what} did not come within {seconds} s")


class Rehearsal:
    def __init__(self, folder):
        self.folder = folder
        self.services = compose.services()
        self.addresses = {name: f"{NETWORK}.{index + 10}" for index, name in enumerate(self.services)}
        self.running = {}

    def network(self):
        run("ip", "link", "add", PREFIX + "bridge", "type", "bridge")
        run("ip", "link", "set", PREFIX + "bridge", "up")
        hosts = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.addresses.items())
        for index, (name, address) in enumerate(self.addresses.items()):
            space = PREFIX + name
            run("ip", "netns", "add", space)
            os.makedirs(f"/etc/netns/{space}", exist_ok=True)
            with open(f"/etc/netns/{space}/hosts", "w") as file:
                file.write(hosts)
            run("ip", "link", "add", f"{PREFIX}{index}a", "type", "veth", "peer", "name", f"{PREFIX}{index}b")
            run("ip", "link", "set", f"{PREFIX}{index}a", "master", PREFIX + "bridge", "up")
            run("ip", "link", "set", f"{PREFIX}{index}b", "netns", space)
            inside = ["ip", "-n", space]
            run(*inside, "link", "set", "lo", "up")
            run(*inside, "addr", "add", address + "/24", "dev", f"{PREFIX}{index}b")
            run(*inside, "link", "set", f"{PREFIX}{index}b", "up")

    def clear(self):
        for process in self.running.values():
            if process.poll() is None:
                process.terminate()
        for process in self.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        for name in self.services:
            subprocess.run(["ip", "netns", "del", PREFIX + name], capture_output=True)
            shutil.rmtree(f"/etc/netns/{PREFIX}{name}", ignore_errors=True)
        subprocess.run(["ip", "link", "del", PREFIX + "bridge"], capture_output=True)

    def volume(self, source):
        """The folder that stands for a volume; a named one is made as an engine does, with the owner in the image."""
        if source.startswith("."):
            return os.path.normpath(os.path.join(compose.HERE, source))
        path = os.path.join(self.folder, "volumes", source)
        if not os.path.isdir(path):
            os.makedirs(path)
            os.chmod(path, 0o755)
            owner = {"keys": CONTAINER_USER, "proxy": NOBODY}.get(source)
            if owner:
                os.chown(path, owner, owner)
        return path

    def inside(self, name, command, environment, user, volumes=()):
        """A command line that runs in the service's namespaces with nothing of this process's environment."""
        script = ["set -e"]
        for volume in volumes:
            source, target, *mode = volume.split(":")
            script.append(f'mkdir -p "{target}" && mount --bind "{self.volume(source)}" "{target}"')
            if mode == ["ro"]:
                script.append(f'mount -o remount,bind,ro "{target}"')
        script.append(f'cd / && exec setpriv --reuid {user} --regid {user} --clear-groups "$@"')
        line = ["ip", "netns", "exec", PREFIX + name, "env", "-i", "PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
        line += [f"{key}={value}" for key, value in environment.items()]
        return line + ["sh", "-c", "\n".join(script), "sh", *command]

    def start(self, name):
        service = self.services[name]
        environment = compose.environment(service, VALUES)
        command = [compose.expand(word, VALUES) for word in service.get("command", [])]
        user = CONTAINER_USER
        if service.get("image", "") == "walletorders":
            program = service.get("entrypoint", ["/usr/local/bin/walletorders"])[0]
            command = [os.path.join(BIN, os.path.basename(program)), *command]
            environment["WALLETORDERS_DATA_DIR"] = "/var/lib/walletorders"  # the image's
        elif service["image"].startswith("postgres:15"):
            user, command = self.database(environment)
        elif service["image"].startswith("caddy:2"):
            # In its container it is root; here it would add its root certificate to those that this machine trusts.
            user, command = NOBODY, ["/usr/bin/caddy" if word == "caddy" else word for word in command]
            environment.update(XDG_DATA_HOME="/data", HOME="/data")
            run("ip", "netns", "exec", PREFIX + name, "sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=0")
        else:
            raise SystemExit(f"rehearsal: nothing stands for the image of {name}")
        log = open(os.path.join(self.folder, name + ".log"), "w")
        line = self.inside(name, command, environment, user, service.get("volumes", []))
        self.running[name] = subprocess.Popen(line, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def database(self, environment):
        """What the entry point of PostgreSQL's image does."""
        import pwd

        user = pwd.getpwnam("postgres").pw_uid
        path = self.volume("database")
        os.chown(path, user, user)
        secret = os.path.join(self.folder, "password")
        with open(secret, "w") as file:
            file.write(environment["POSTGRES_PASSWORD"])
        os.chown(secret, user, user)
        arguments = environment.pop("POSTGRES_INITDB_ARGS").split()
        run("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "/usr/lib/postgresql/15/bin/initdb",
            "-D", path, "-U", environment["POSTGRES_USER"], "--pwfile", secret, "-A", "scram-sha-256", *arguments, cwd="/")
        os.remove(secret)
        with open(os.path.join(path, "pg_hba.conf"), "a") as file:
            file.write("host all all all scram-sha-256\n")
        data = "/var/lib/postgresql/data"
        sockets = os.path.join(self.folder, "sockets")
        os.makedirs(sockets)
        os.chown(sockets, user, user)
        return user, ["postgres", "-D", data, "-c", "listen_addresses=*", "-c", f"unix_socket_directories={sockets}"]

    def is_healthy(self, name):
        test = [word for word in self.services[name]["healthcheck"]["test"] if word != "CMD"] + ["-h", "127.0.0.1"]
        if subprocess.run(self.inside(name, test, {}, 0), capture_output=True).returncode:
            return False
        # What the image does before it lets anyone in: the database of that name.
        environment = {"PGPASSWORD": VALUES["POSTGRES_PASSWORD"]}
        create = ["createdb", "-h", "127.0.0.1", "-U", "walletorders", "walletorders"]
        done = subprocess.run(self.inside(name, create, environment, 0), capture_output=True, text=True)
        return done.returncode == 0 or "already exists" in done.stderr

    def up(self):
        """Starts each service when what it waits for has come."""
        left = dict(self.services)
        while left:
            for name in list(left):
                waits = left[name].get("depends_on", {})
                waits = {other: {} for other in waits} if isinstance(waits, list) else waits
                if not set(waits) <= set(self.running):
                    continue
                for other, how in waits.items():
                    condition = how.get("condition", "service_started")
                    if condition == "service_healthy":
                        wait(f"{other} healthy", lambda: self.is_healthy(other))
                    elif condition == "service_completed_successfully":
                        status = self.running[other].wait(60)
                        if status:
                            raise SystemExit(f"rehearsal: {other} ended with {status}")
                self.start(name)
                print(f"started {name}", flush=True)
                del left[name]

    def log(self, name):
        with open(os.path.join(self.folder, name + ".log")) as file:
            return file.read()


def story(stage):
    for name in ("serve", "worker"):
        wait(f"{name} ready", lambda: '"ready"' in stage.log(name))
    serve = stage.services["serve"]
    environment = compose.environment(serve, VALUES)
    environment["WALLETORDERS_DATA_DIR"] = "/var/lib/walletorders"

    def program(*words):
        line = stage.inside("serve", [f"{BIN}/walletorders", *words], environment, CONTAINER_USER, serve["volumes"])
        return run(*line)

    key = program("keys", "create", "--name", "shop").strip().splitlines()[-1]

    def post(path, body):
        call = ["curl", "-sS", "--fail-with-body", "-H", "@-", "-d", json.dumps(body), f"http://serve:8081/api/v1/orders{path}"]
        answer = run(*stage.inside("worker", call, {}, NOBODY),
                     input=f"Authorization: Bearer {key}\nContent-Type: application/json\n")
        return json.loads(answer)

    parcel = {"fulfillmentType": "shipping", "fulfillmentIdentifier": "parcel-1", "status": "processing"}
    merchant = {"merchantIdentifier": "merchant.com.example.shop", "displayName": "Shop", "url": "https://www.example.com/"}
    answer = post("", {"order": {
        "orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "1001", "orderType": "ecommerce",
        "orderNumber": "1001", "status": "open", "orderManagementURL": "https://www.example.com/orders/1001",
        "merchant": merchant, "fulfillments": [parcel]}})
    print("created", answer["orderDetails"]["webServiceURL"], flush=True)
    details = os.path.join(stage.folder, "details.json")
    with open(details, "w") as file:
        json.dump(answer, file)
    # Caddy's own authority signs for localhost; the phone asks for the proxy where it is localhost.
    root = os.path.join(stage.volume("proxy"), "caddy/pki/authorities/local/root.crt")
    wait("the proxy's root", lambda: os.path.exists(root))
    knock = stage.inside("proxy", ["curl", "-sS", "--cacert", root, "https://localhost/"], {}, 0)
    wait("the proxy", lambda: subprocess.run(knock, capture_output=True).returncode == 0)
    trust = [os.path.join(stage.volume("keys"), "testpki/root.pem"), root]
    command = [f"{BIN}/walletsim", "iphone", "--order-details", details, "--apns", "https://apns-simulator:8443", "--changes", "1"]
    for path in trust:
        command += ["--trust", path]
    with open(os.path.join(stage.folder, "iphone.log"), "w") as log:
        phone = subprocess.Popen(stage.inside("proxy", command, {}, 0), stdout=log, stderr=log)
        try:
            wait("the registration", lambda: "registered (201)" in stage.log("iphone") or phone.poll() is not None)
            post("/order.com.example.shop/1001/events", {"eventIdentifier": "carrier-1", "fulfillment": {
                "fulfillmentIdentifier": "parcel-1", "status": "shipped", "trackingNumber": "EX123456789DE",
                "trackingURL": "https://carrier.example.com/EX123456789DE", "carrier": "Example Carrier"}})
            status = phone.wait(60)
        finally:
            if phone.poll() is None:
                phone.kill()
    print(stage.log("iphone"), end="")
    if status or "told by a push" not in stage.log("iphone"):
        raise SystemExit(f"rehearsal: the phone ended with {status}")
    for name in ("serve", "worker"):
        stage.running[name].terminate()
        if stage.running[name].wait(30) != 0:
            raise SystemExit(f"rehearsal: {name} did not end with 0 on SIGTERM")
    print("serve and worker drained, exit 0")


def main():
    folder = tempfile.mkdtemp(prefix="walletorders-rehearsal-")
    os.chmod(folder, 0o755)
    stage = Rehearsal(folder)
    try:
        stage.network()
        stage.up()
        story(stage)
    except BaseException:
        for name in stage.running:
            print(f"--- {name}\n{stage.log(name)[-2000:]}", file=sys.stderr)
        raise
    finally:
        stage.clear()
        shutil.rmtree(folder, ignore_errors=True)
    print("the deployment holds")


main()
