// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime
import Simulators

/// A certificate authority and an order type for trying things out, laid out as Apple's, kept in the data directory.
struct TestIdentity: Sendable {
    /// The order type that `run` serves when none is configured.
    static let orderType = "order.com.example.shop"

    let authority: TestAuthority

    /// Reads the authority of a folder, or makes one there. What has ended, or ends within a week, is issued anew by the
    /// same root, which whoever tries things out has told their programs to trust; so is what can't be read, or doesn't
    /// belong together, while root and intermediate are whole.
    ///
    /// - Throws: `CommandFailure` (78).
    static func load(_ folder: String) async throws -> TestIdentity {
        do {
            return TestIdentity(
                authority: try await runBlocking {
                    if Files.exists(folder + "/root.pem") {
                        let authority: TestAuthority
                        do { authority = try TestAuthority.read(from: folder) } catch {
                            let restored = try TestAuthority.restore(
                                in: folder,
                                orderType: try OrderTypeIdentifier(self.orderType)
                            )
                            // The type may be another than before: what said it may be what can't be read.
                            let type = restored.identity.orderTypeIdentifier.text
                            Terminal.complain(
                                "the test certificates are issued anew for \(type), by the same root: \(error)"
                            )
                            return restored
                        }
                        let end = min(authority.identity.chainNotAfter, authority.server.certificate.notAfter)
                        return end > WallTime.now().seconds + 7 * 86_400 ? authority : try authority.renew(in: folder)
                    }
                    let authority = try TestAuthority.make(orderType: try OrderTypeIdentifier(self.orderType))
                    try authority.write(to: folder)
                    return authority
                }
            )
        } catch let error as OrderPackageError {
            throw CommandFailure(
                .configuration,
                "the test authority can't be used: \(error). Put the file back, or remove the folder \(folder): a new "
                    + "authority is made then, and is to be trusted anew"
            )
        }
    }

    /// TLS for a listener on this machine, with a certificate of the same root.
    func serverTLS(clientCertificates: ClientCertificatePolicy) throws -> TLSContext {
        try TLSContext.server(
            certificate: self.authority.server.certificate,
            chain: self.authority.server.chain,
            key: self.authority.server.key,
            alpn: ["h2", "http/1.1"],
            clientCertificates: clientCertificates
        )
    }

    /// An APNs of our own, which takes this authority's certificates.
    func apnsSimulator(listen: ListenAddress, loops: EventLoopGroup, logger: Logger) throws -> APNsSimulator {
        APNsSimulator(
            address: listen,
            tls: try self.serverTLS(clientCertificates: .optional(roots: [self.authority.root])),
            loops: loops,
            logger: logger
        )
    }

    /// The settings of the test order type.
    func orderType(webServiceURL: String, apns: BoundAddress, completeWhenFulfilled: Bool) -> OrderTypeSettings {
        var host = "127.0.0.1"
        var port = 0
        if case .ip(let boundHost, let boundPort) = apns { (host, port) = (boundHost, boundPort) }
        return OrderTypeSettings(
            identifier: self.authority.identity.orderTypeIdentifier,
            identity: self.authority.identity,
            webServiceURL: webServiceURL,
            completeWhenFulfilled: completeWhenFulfilled,
            apns: APNsSettings(host: host, port: port, trust: [self.authority.root])
        )
    }
}
