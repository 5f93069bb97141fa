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
