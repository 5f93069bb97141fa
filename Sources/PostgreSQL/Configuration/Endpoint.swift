// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// One address that a connection is tried at.
internal struct Endpoint: Sendable, Hashable {
    /// The host as configured; certificates are checked against it.
    var host: String
    /// Its numeric address; nil for a Unix socket.
    var address: String?
    var port: Int

    /// A name without an address, with the resolver's words for it: that there is no such name, or that it can't be looked
    /// up for the moment.
    struct Unknown: Error, Sendable, Hashable {
        let name: String
        let reason: String
    }

    /// All addresses of all hosts, in the order in which to try them, and the names that have none.
    ///
    /// libpq would look names up itself, and block the loop while it does; and its connect timeout would not apply to each
    /// host. So both are done here.
    static func all(of hosts: [PostgresConfiguration.Host]) async -> (known: [Endpoint], unknown: [Unknown]) {
        var endpoints: [Endpoint] = []
        var unknown: [Unknown] = []
        for host in hosts {
            if let address = host.address {
                endpoints.append(Endpoint(host: host.name, address: address, port: host.port))
            } else if host.isSocket {
                endpoints.append(Endpoint(host: host.name, address: nil, port: host.port))
            } else if Endpoint.isNumeric(host.name) {
                endpoints.append(Endpoint(host: host.name, address: host.name, port: host.port))
            } else {
                do {
                    let addresses = try await runBlocking { try Endpoint.lookUp(host.name) }
                    endpoints += addresses.map { Endpoint(host: host.name, address: $0, port: host.port) }
                } catch {
                    unknown.append(error as? Unknown ?? Unknown(name: host.name, reason: "\(error)"))
                }
            }
        }
        return (endpoints, unknown)
    }

    /// Whether it is an address and not a name; one of IPv6 may have a zone (`fe80::1%eth0`).
    static func isNumeric(_ name: String) -> Bool {
        var four = in_addr()
        var six = in6_addr()
        let name = String(name.prefix { $0 != "%" })
        return unsafe inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
    }

    private static func lookUp(_ name: String) throws(Unknown) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else {
            let words = unsafe code == EAI_SYSTEM ? strerror(errno) : UnsafeMutablePointer(mutating: gai_strerror(code))
            throw Unknown(name: name, reason: unsafe words.map { unsafe String(cString: $0) } ?? "\(code)")
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [String] = []
        var entry = unsafe list
        while let current = unsafe entry {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = unsafe getnameinfo(
                current.pointee.ai_addr,
                current.pointee.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if code == 0, !addresses.contains(address) { addresses.append(address) }
            unsafe entry = current.pointee.ai_next
        }
        return addresses
    }
}
