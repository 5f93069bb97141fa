// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// One set of compiler settings for every target: the language's strictest mode, and warnings are errors.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// What all stations stand on.
let kits = ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine"]
/// The stations that an order passes before the doors.
let orders = ["OrderModel", "OrderPackage", "OrderStore"]

/// The modules, lowest first, and what each stands on. An arrow only points up this list.
let modules: KeyValuePairs = [
    "ServiceRuntime": ["CLinux"],
    "Cryptography": ["COpenSSL"],
    "ExactJSON": [],
    "ZipFiles": ["CLibZip"],
    "HTTPEngine": ["CLinux", "CNGHTTP2", "ServiceRuntime", "Cryptography", "ExactJSON"],
    "PostgreSQL": ["CLinux", "CLibPQ", "ServiceRuntime", "Cryptography"],
    "OrderModel": ["ExactJSON"],
    "OrderPackage": ["ServiceRuntime", "Cryptography", "ExactJSON", "ZipFiles", "OrderModel"],
    "OrderStore": ["ServiceRuntime", "Cryptography", "ExactJSON", "PostgreSQL", "OrderModel", "OrderPackage"],
    "MerchantAPI": kits + orders,
    "DeviceAPI": kits + orders,
    "PushNotifications": kits + orders,
    "Console": kits + orders,
    "Simulators": kits + ["OrderModel", "OrderPackage"],
]

/// The schema's migrations travel inside the binary.
let resources: [String: [Resource]] = ["OrderStore": [.embedInCode("Migrations")]]

/// What a module's tests need beside the module and what it stands on.
let furtherTestDependencies = [
    // For peers that speak TLS as ours never does.
    "Cryptography": ["COpenSSL"],
    "HTTPEngine": ["COpenSSL"],
    "OrderStore": ["HTTPEngine", "StoreTestSupport"],
    "MerchantAPI": ["PostgreSQL", "StoreTestSupport"],
    "DeviceAPI": ["PostgreSQL", "MerchantAPI", "StoreTestSupport"],
    "PushNotifications": ["PostgreSQL", "Simulators", "StoreTestSupport"],
    "Console": ["PostgreSQL", "StoreTestSupport"],
    "walletorders": ["ServiceRuntime", "ExactJSON", "HTTPEngine", "Cryptography", "OrderModel", "OrderPackage"],
]

/// The modules and programs that have tests.
let tested = [
    "ServiceRuntime", "Cryptography", "ExactJSON", "ZipFiles", "HTTPEngine", "PostgreSQL", "OrderModel", "OrderPackage",
    "OrderStore", "MerchantAPI", "DeviceAPI", "PushNotifications", "Console", "Simulators", "walletorders",
]

func dependencies(_ names: [String]) -> [Target.Dependency] { names.map { .target(name: $0) } }

func testTarget(_ name: String) -> Target {
    let below = modules.first { $0.key == name }?.value.filter { !$0.hasPrefix("C") || $0 == "Cryptography" } ?? []
    let all = [name, "TestPatience"] + below + furtherTestDependencies[name, default: []]
    return .testTarget(
        name: name + "Tests",
        dependencies: dependencies(all),
        exclude: name == "OrderModel" ? ["Fixtures"] : [],
        swiftSettings: settings
    )
}

let package = Package(
    name: "walletorders",
    platforms: [.macOS(.v26)],
    products: [
        // With the modules whose types stand in their interfaces.
        .library(name: "OrderModel", targets: ["OrderModel", "ExactJSON"]),
        .library(name: "OrderPackage", targets: ["OrderPackage", "OrderModel", "ExactJSON", "Cryptography"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CLibZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
    ]
        + modules.map { name, below in
            .target(
                name: name,
                dependencies: dependencies(below),
                resources: resources[name, default: []],
                swiftSettings: settings
            )
        } + [
            .executableTarget(
                name: "walletorders",
                dependencies: dependencies(modules.map(\.key)),
                swiftSettings: settings
            ),
            .executableTarget(
                name: "walletsim",
                dependencies: dependencies(kits + ["OrderModel", "OrderPackage", "Simulators"]),
                swiftSettings: settings
            ),
            // What scripts/bench and scripts/differential run: parts of the product with nothing around them.
            .executableTarget(
                name: "walletbench",
                dependencies: dependencies(kits + ["OrderModel", "OrderPackage"]),
                path: "scripts/walletbench",
                swiftSettings: settings
            ),
            // What tests of all modules share: above all how they deal with time. No product reaches it.
            .target(name: "TestPatience", path: "Tests/TestPatience", swiftSettings: settings),
            // What tests of the store and the stations share: a real database for each test. No product reaches it.
            .target(
                name: "StoreTestSupport",
                dependencies: dependencies(kits + ["PostgreSQL"] + orders + ["TestPatience"]),
                path: "Tests/StoreTestSupport",
                swiftSettings: settings
            ),
        ] + tested.map(testTarget)
)
