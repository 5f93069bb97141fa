// SPDX-License-Identifier: Apache-2.0
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime

/// What `run` prints once it serves: where, with which key, and how to make the first order.
enum Welcome {
    static func text(_ application: Application, key: String, elapsed: Duration) -> String {
        let addresses = application.addresses
        let scheme =
            application.testIdentity == nil && application.configuration.deviceCertificate == nil ? "http" : "https"
        var lines = [
            "walletorders is ready after \(elapsed.nanoseconds / 1_000_000) ms. Ctrl-C ends it.", "",
            "  devices    \(self.url(scheme, addresses.device, "/v1/…"))",
            "  merchants  \(self.url("http", addresses.merchant, "/api/v1/…"))",
            "  admin      \(self.url("http", addresses.admin, "/readyz"))",
            "  data       \(application.configuration.dataDirectory)",
        ]
        if let apns = addresses.apns {
            lines.append("  APNs       simulated at https://\(Application.authority(apns))")
        }
        lines += ["", "Merchant key (kept in the data directory): \(key)"]
        if let type = application.types.all.first?.identifier.text, let merchant = addresses.merchant {
            lines += ["", "Create an order:", "", self.curl(merchant, key, type)]
        }
        return lines.joined(separator: "\n")
    }

    /// Where a listener is reached: a URL, or the socket and a path.
    private static func url(_ scheme: String, _ address: BoundAddress?, _ path: String) -> String {
        switch address {
        case .ip: "\(scheme)://\(address.map(Application.authority) ?? "")\(path)"
        case .unix(let socket): "unix:\(socket)  (\(path))"
        case nil: "-"
        }
    }

    /// A line that creates an order when it is pasted into a shell.
    static func curl(_ merchant: BoundAddress, _ key: String, _ type: String) -> String {
        let order = """
            {"order":{"orderTypeIdentifier":"\(type)","orderNumber":"1001","orderType":"ecommerce","status":"open",\
            "orderManagementURL":"https://www.example.com/orders/1001","merchant":{"merchantIdentifier":\
            "merchant.com.example.shop","displayName":"Example Shop","url":"https://www.example.com/"},\
            "fulfillments":[{"fulfillmentType":"shipping","fulfillmentIdentifier":"parcel-1","status":"processing"}]}}
            """
        let place =
            switch merchant {
            case .ip: "http://\(Application.authority(merchant))"
            case .unix(let path): "--unix-socket '\(path.replacing("'", with: "'\\''"))' http://localhost"
            }
        return "curl -sS -o answer.json \(place)/api/v1/orders -H 'Authorization: Bearer \(key)' "
            + "-H 'Content-Type: application/json' -d '\(order)'"
    }

    /// The addresses as log values.
    static func addresses(_ application: Application) -> [String: LogValue] {
        var values: [String: LogValue] = [:]
        let addresses = application.addresses
        for (name, address) in [
            ("device", addresses.device), ("merchant", addresses.merchant), ("admin", addresses.admin),
        ] {
            if let address { values[name] = .string(Application.authority(address)) }
        }
        return values
    }
}
