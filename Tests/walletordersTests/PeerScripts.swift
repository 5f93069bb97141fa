// SPDX-License-Identifier: Apache-2.0

/// Clients in Python, for what they do that ours does not: half requests, load that outlives its server.
enum PeerScripts {
    /// A request that is under way when its server is told to end. Arguments: address, key file, pid, signal, and
    /// `finish` (the rest of the request follows) or `again` (a second signal does).
    static let inFlight = #"""
        import json, os, signal, socket, sys, time
        host, port = sys.argv[1].rsplit(":", 1)
        key, pid, name, then = open(sys.argv[2]).read().strip(), int(sys.argv[3]), sys.argv[4], sys.argv[5]
        body = json.dumps({"order": {
            "orderTypeIdentifier": "order.com.example.shop", "orderNumber": "1", "orderType": "ecommerce",
            "status": "open", "orderManagementURL": "https://www.example.com/o",
            "merchant": {"merchantIdentifier": "merchant.com.example.shop", "displayName": "Shop",
                         "url": "https://www.example.com/"}}}).encode()
        s = socket.create_connection((host, int(port)), timeout=20)
        s.sendall((f"POST /api/v1/orders HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
                   "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode())
        assert b" 100 " in s.recv(1000)
        s.sendall(body[:20])
        os.kill(pid, getattr(signal, name))
        for _ in range(2000):
            try: socket.create_connection((host, int(port)), timeout=5).close()
            except OSError: break
            time.sleep(0.005)
        else: sys.exit("it still listens")
        if then == "again":
            os.kill(pid, signal.SIGTERM)
            sys.exit()
        s.sendall(body[20:])
        answer = b""
        while more := s.recv(65536): answer += more
        print(answer.split(b"\r\n")[0].decode())
        """#

    /// Fetches a package over TLS from three connections, each opened anew after ten requests, and changes another order
    /// from a fourth, until a file appears; says how many requests failed. Arguments: device address, file with the
    /// merchant's key, merchant address, file to wait for, the order's path, its token.
    static let steadyLoad = #"""
        import http.client, json, os, ssl, sys, threading, time
        device, key, merchant, stop, path, token = sys.argv[1], open(sys.argv[2]).read().strip(), *sys.argv[3:7]
        context = ssl._create_unverified_context()
        done, failed, lock = [0, 0], [], threading.Lock()
        def fetch():
            while not os.path.exists(stop):
                c = http.client.HTTPSConnection(device, timeout=20, context=context)
                for _ in range(10):
                    try:
                        c.request("GET", path, headers={"Authorization": "AppleOrder " + token})
                        r = c.getresponse()
                        body = r.read()
                        if r.status != 200 or body[:2] != b"PK": raise OSError(f"status {r.status}")
                        with lock: done[0] += 1
                    except (OSError, http.client.HTTPException) as error:
                        with lock: failed.append(repr(error))
                c.close()
        def change():
            c = http.client.HTTPConnection(merchant, timeout=20)
            headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
            number = 0
            while not os.path.exists(stop):
                number += 1
                order = {"order": {
                    "orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": f"load-{number}",
                    "orderNumber": "1", "orderType": "ecommerce", "status": "open",
                    "orderManagementURL": "https://www.example.com/o",
                    "merchant": {"merchantIdentifier": "merchant.com.example.shop", "displayName": "Shop",
                                 "url": "https://www.example.com/"}}}
                try:
                    c.request("POST", "/api/v1/orders", json.dumps(order), headers)
                    r = c.getresponse()
                    r.read()
                    if r.status != 201: raise OSError(f"status {r.status}")
                    with lock: done[1] += 1
                except (OSError, http.client.HTTPException) as error:
                    with lock: failed.append(repr(error))
        threads = [threading.Thread(target=fetch) for _ in range(3)] + [threading.Thread(target=change)]
        for t in threads: t.start()
        print("loading", flush=True)
        for t in threads: t.join()
        print(f"{done[0]} fetched, {done[1]} created, {len(failed)} failed {failed[:3]}")
        sys.exit(bool(failed) or min(done) < 20)
        """#

    /// Prints the SHA-256 digest of the certificate that a server shows. Argument: its address.
    static let serverCertificate = #"""
        import hashlib, ssl, sys
        host, port = sys.argv[1].rsplit(":", 1)
        pem = ssl.get_server_certificate((host, int(port)))
        print(hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest())
        """#

    /// Takes connections and says nothing. Prints its port.
    static let silence = #"""
        import socket
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(100)
        print("port", s.getsockname()[1], flush=True)
        kept = []
        while True: kept.append(s.accept())
        """#

    /// Creates orders and posts an event to each, from four connections, until the server is gone or a number has been
    /// acknowledged. Arguments: address, key file, `load`, file for what was acknowledged, number, prefix.
    /// With `check` it asks for all in the file instead.
    static let load = #"""
        import http.client, json, sys, threading
        host, port = sys.argv[1].rsplit(":", 1)
        key, mode, file = open(sys.argv[2]).read().strip(), sys.argv[3], sys.argv[4]
        path = "/api/v1/orders/order.com.example.shop/"
        lock, acknowledged, refused, told = threading.Lock(), {}, set(), []
        def call(c, method, path, body=None):
            c.request(method, path, body and json.dumps(body),
                      {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
            r = c.getresponse()
            return r.status, json.loads(r.read() or b"null")
        def work(n):
            try:
                c = http.client.HTTPConnection(host, int(port), timeout=30)
                for i in range(int(sys.argv[5])):
                    name = f"{sys.argv[6]}-{n}-{i}"
                    status, _ = call(c, "POST", "/api/v1/orders", {"order": {
                        "orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": name,
                        "orderNumber": name, "orderType": "ecommerce", "status": "open",
                        "orderManagementURL": "https://www.example.com/o",
                        "merchant": {"merchantIdentifier": "merchant.com.example.shop", "displayName": "Shop",
                                     "url": "https://www.example.com/"},
                        "customer": {"givenName": "Zaphodine", "familyName": "Quuxbury"},
                        "fulfillments": [{"fulfillmentType": "shipping", "fulfillmentIdentifier": "p",
                                          "status": "processing"}]}})
                    if status != 201:
                        with lock: refused.add(status)
                        continue
                    with lock: acknowledged[name] = False
                    status, _ = call(c, "POST", path + name + "/events", {
                        "eventIdentifier": "e-" + name,
                        "fulfillment": {"fulfillmentIdentifier": "p", "status": "shipped",
                                        "trackingNumber": "T-" + name}})
                    with lock:
                        if status == 200: acknowledged[name] = True
                        else: refused.add(status)
                        if len(acknowledged) > 40 and not told:
                            told.append(1)
                            print("loaded", flush=True)
            except (OSError, http.client.HTTPException): pass
        if mode == "load":
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            for t in threads: t.start()
            for t in threads: t.join()
            json.dump(acknowledged, open(file, "w"))
            print(len(acknowledged), "acknowledged, refused with", sorted(refused))
            # What can't be done now is said to be so, never anything worse.
            sys.exit(not refused <= {503})
        acknowledged = json.load(open(file))
        c = http.client.HTTPConnection(host, int(port), timeout=30)
        missing = []
        for name, event in acknowledged.items():
            status, order = call(c, "GET", path + name)
            if status != 200 or event and "T-" + name not in json.dumps(order): missing.append(name)
        print(len(acknowledged), "checked, missing:", missing)
        sys.exit(bool(missing) or len(acknowledged) < 40)
        """#
}
