// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Every setting there is. Each can be a flag, an environment variable (`WALLETORDERS_…`) or a key of the JSON file, but for
/// those of order types, which are the file's alone, and the database's password, which is no flag.
enum Settings {
    static let all: [Setting] = [
        Setting(
            "dataDir",
            path: true,
            "folder of keys and of the private database (default: /var/lib/walletorders for root, else "
                + "$XDG_STATE_HOME/walletorders or ~/.local/state/walletorders)"
        ),
        Setting(
            "database",
            secret: true,
            "URL of a PostgreSQL 15 database; without one, 'run' has its own in dataDir, and others use it while it runs"
        ),
        Setting(
            "databasePassword",
            secret: true,
            flag: false,
            "the password of the database's role as it is, nothing of it encoded; the URL has none then"
        ),
        Setting("databasePasswordFile", path: true, "file with that password; the line break at its end doesn't count"),
        Setting("databaseConnections", default: "4", "database connections of each event loop"),
        Setting("loops", default: "0", "event loops; 0 is one for each core"),
        Setting(
            "webServiceURL",
            "where devices reach the device listener from outside, for order types that don't say"
        ),
        Setting(
            "trustedProxies",
            "addresses, networks (10.0.0.0/8) or 'unix', with commas: proxies whose X-Forwarded-For is believed"
        ),
        Setting("device.listen", default: "127.0.0.1:8080", "address of the public listener, or unix:PATH"),
        Setting(
            "device.certificate",
            path: true,
            "PEM file of the public listener's certificate and chain; without one, clear text"
        ),
        Setting("device.key", path: true, "PEM file of its private key"),
        Setting(
            "device.requestsPerDevice",
            default: "6000",
            "requests a minute about one device, order or share link from one address, all at once or not; 0: no limit"
        ),
        Setting(
            "device.requestsPerAddress",
            default: "240000",
            "requests a minute from one address to the public listener's routes, all at once or not; 0: no limit"
        ),
        Setting("merchant.listen", default: "127.0.0.1:8081", "address of the merchant listener, or unix:PATH"),
        Setting(
            "merchant.requestsPerKey",
            default: "120000",
            "requests and events a minute with one merchant key, all at once or not; 0: no limit"
        ),
        Setting(
            "merchant.failuresPerAddress",
            default: "600",
            "requests a minute without a valid merchant key from one address, all at once or not; 0: no limit"
        ),
        Setting("admin.listen", default: "127.0.0.1:8082", "address of the admin listener, or unix:PATH"),
        Setting("apnsSimulator.listen", default: "127.0.0.1:8443", "address of the APNs simulator of 'run'"),
        Setting("drain", default: "10s", "how long all parts together may take to end"),
        Setting("logLevel", default: "info", "debug, info, notice, warning or error"),
        Setting("orderTypes.*.identity", path: true, "PKCS#12, PEM or DER file of the Order Type ID certificate"),
        Setting("orderTypes.*.key", path: true, "PEM file of its private key, when the identity file has none"),
        Setting("orderTypes.*.passphraseFile", path: true, "file with the passphrase of identity or key"),
        Setting("orderTypes.*.intermediates", path: true, "PEM file of the issuing certificate; Apple's own are known"),
        Setting("orderTypes.*.webServiceURL", "where devices reach this order type"),
        Setting("orderTypes.*.completeWhenFulfilled", default: "false", "complete an order with its last fulfillment"),
        Setting("orderTypes.*.unknownFields", default: "refuse", "refuse or keep members that Apple does not know"),
        Setting("orderTypes.*.apns.host", default: "api.push.apple.com", "APNs host"),
        Setting("orderTypes.*.apns.port", default: "443", "APNs port"),
        Setting("orderTypes.*.apns.trust", path: true, "PEM file of the roots that APNs' certificate must lead to"),
        Setting("orderTypes.*.apns.pushType", default: "background", "the header apns-push-type: background or alert"),
        Setting("orderTypes.*.apns.priority", default: "5", "the header apns-priority: 1, 5 or 10; 5 with background"),
        Setting("orderTypes.*.apns.expiration", default: "30d", "how long APNs keeps a push for a device that is off"),
    ]

    /// The options of commands that read settings.
    static let options: [CommandLineOption] =
        [CommandLineOption("config", value: "FILE", "JSON file of settings")]
        + all.filter { !$0.isPattern && $0.isFlag }.map { setting in
            let note = setting.defaultValue.map { " (default: \($0))" } ?? ""
            // Scripts give some, and whoever calls them others behind these: the last counts.
            return CommandLineOption(setting.flag, value: "VALUE", repeatable: true, setting.summary + note)
        }
}
