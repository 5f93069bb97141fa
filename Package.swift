// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import Foundation
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

let here = Context.packageDirectory
func exists(_ path: String) -> Bool {
    guard let files = FileManager.default.enumerator(atPath: here + "/" + path) else { return false }
    for case let name as String in files where name.hasSuffix(".swift") { return true }
    return false
}

var targets: [Target] = [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CLibZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
]

/// The modules, lowest first. An arrow only points up this list.
let modules: [(name: String, dependencies: [String])] = [
    ("ServiceRuntime", ["CLinux"]),
    ("Cryptography", ["COpenSSL"]),
    ("ExactJSON", []),
    ("ZipFiles", ["CLibZip"]),
    ("HTTPEngine", ["CLinux", "CNGHTTP2", "ServiceRuntime", "Cryptography", "ExactJSON"]),
    ("PostgreSQL", ["CLinux", "CLibPQ", "ServiceRuntime", "Cryptography"]),
    ("OrderModel", ["ExactJSON"]),
    ("OrderPackage", ["ServiceRuntime", "Cryptography", "ExactJSON", "ZipFiles", "OrderModel"]),
    ("OrderStore", ["ServiceRuntime", "Cryptography", "ExactJSON", "PostgreSQL", "OrderModel", "OrderPackage"]),
    ("MerchantAPI", ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage", "OrderStore"]),
    ("DeviceAPI", ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage", "OrderStore"]),
    ("PushNotifications", ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage", "OrderStore"]),
    ("Console", ["ServiceRuntime", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage", "OrderStore"]),
    ("Simulators", ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage"]),
]
let executables: [(name: String, dependencies: [String])] = [
    ("walletorders", modules.map(\.name)),
    ("walletsim", ["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "OrderModel", "OrderPackage", "Simulators"]),
]
func present(_ names: [String]) -> [Target.Dependency] {
    names.filter { $0.hasPrefix("C") && $0 != "Cryptography" && $0 != "Console" || exists("Sources/\($0)") }.map { .target(name: $0) }
}
for (name, dependencies) in modules where exists("Sources/\(name)") {
    // The schema's migrations travel inside the binary.
    let resources: [Resource] = name == "OrderStore" ? [.embedInCode("Migrations")] : []
    targets.append(
        .target(name: name, dependencies: present(dependencies), resources: resources, swiftSettings: settings))
}
for (name, dependencies) in executables where exists("Sources/\(name)") {
    targets.append(.executableTarget(name: name, dependencies: present(dependencies), swiftSettings: settings))
}
if exists("scripts/walletbench"), exists("Sources/HTTPEngine") {
    targets.append(
        .executableTarget(
            name: "walletbench", dependencies: present(["ServiceRuntime", "Cryptography", "HTTPEngine"]),
            path: "scripts/walletbench", swiftSettings: settings))
}
/// What tests of the store and the stations share: a real database for each test. No product reaches it.
let testSupport = "StoreTestSupport"
if exists("Tests/\(testSupport)") {
    targets.append(
        .target(
            name: testSupport,
            dependencies: present(["ServiceRuntime", "Cryptography", "ExactJSON", "HTTPEngine", "PostgreSQL", "OrderModel", "OrderPackage", "OrderStore"]),
            path: "Tests/\(testSupport)", swiftSettings: settings))
}
/// Stations that a test needs beside the one it tests.
let furtherTestDependencies = ["DeviceAPI": ["MerchantAPI"]]
for (name, dependencies) in modules + executables where exists("Tests/\(name)Tests") {
    var needed = present([name] + dependencies.filter { $0 != name } + furtherTestDependencies[name, default: []])
    if name == "OrderStore" || dependencies.contains("OrderStore"), exists("Tests/\(testSupport)") {
        needed.append(.target(name: testSupport))
    }
    targets.append(.testTarget(name: name + "Tests", dependencies: needed, swiftSettings: settings))
}

let package = Package(
    name: "walletorders",
    platforms: [.macOS(.v26)],
    products: ["OrderModel", "OrderPackage"].filter { exists("Sources/\($0)") }.map { .library(name: $0, targets: [$0]) },
    targets: targets
)
