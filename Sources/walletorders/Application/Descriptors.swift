// SPDX-License-Identifier: Apache-2.0
import HTTPEngine
import ServiceRuntime

/// How this process's descriptors are divided: so that no listener can take what another, or the database, needs.
struct Descriptors: Sendable, Equatable {
    /// The bounds of the three listeners.
    let device: HTTPLimits
    let merchant: HTTPLimits
    let admin: HTTPLimits
    /// How many the process may have open.
    let limit: Int
    /// With fewer an operator should know.
    let wanted: Int

    /// Whoever looks after the process needs no more; they are its own, whatever the other listeners have.
    private static let adminConnections = 256
    /// Connections of each of the others that a moderately busy service comes to. Phones keep theirs for a minute.
    private static let usualConnections = 2_000

    /// - Parameter limit: how many the process may have open.
    init(_ configuration: ServerConfiguration, limit: Int = ProcessDescriptors.limit) {
        var (device, merchant, admin) = (HTTPLimits(), HTTPLimits(), HTTPLimits())
        admin.connections = Self.adminConnections
        // Files, pushes, name look-ups and what each loop has, beside the database's connections.
        let kept = 128 + configuration.loops * (configuration.databaseConnections + 8)
        let wanted = [device, merchant, admin].map(\.connections)
        let shares = ConnectionShares.divide(wanted, descriptors: limit, kept: kept)
        (device.connections, merchant.connections, admin.connections) = (shares[0], shares[1], shares[2])
        (self.device, self.merchant, self.admin) = (device, merchant, admin)
        self.limit = limit
        self.wanted = kept + 2 * Self.usualConnections + Self.adminConnections
    }

    /// Whether there are as many as an ordinary service needs.
    var isEnough: Bool { self.limit >= self.wanted }

    /// What it comes to, in a sentence.
    var summary: String {
        "\(self.limit) descriptors are enough for \(self.device.connections) connections to the device listener and "
            + "\(self.merchant.connections) to the merchant listener"
    }
}
