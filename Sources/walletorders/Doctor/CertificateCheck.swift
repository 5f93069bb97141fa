// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime

/// `doctor` on one order type's certificate: readable, fitting, in date, its secrets kept.
struct CertificateCheck {
    let type: ServerConfiguration.OrderType

    private var name: String { self.type.identifier.text }

    /// Loads the identity and adds what there is to say about it; nil when it can't be used.
    func load(into diagnoses: inout [Diagnosis]) async -> OrderTypeSettings? {
        let settings: OrderTypeSettings
        do {
            guard let loaded = try await OrderTypeLoading.load([self.type]).first else { return nil }
            settings = loaded
        } catch {
            let faults = (error as? ConfigurationError)?.faults ?? ["\(error)"]
            diagnoses += faults.map {
                .bad("\(self.name): certificate", $0, fix: "mend the files that orderTypes.\(self.name) names")
            }
            return nil
        }
        let identity = settings.identity
        diagnoses.append(
            Self.validity(
                "\(self.name): certificate",
                identity.validity(at: WallTime.now().seconds),
                until: identity.chainNotAfter,
                renewal: "renew it in Apple's developer portal, put the files in place, send SIGHUP"
            )
        )
        diagnoses.append(
            .good(
                "\(self.name): chain",
                identity.isApple
                    ? "leads to a root of Apple"
                    : "leads to \(identity.intermediate.issuerDescription): only devices of a test take its packages"
            )
        )
        diagnoses += self.permissions()
        for finding in identity.findings where finding.severity == .warning {
            diagnoses.append(
                .bad("\(self.name): identity file", finding.message, fix: finding.fix ?? "see \(finding.code)")
            )
        }
        return settings
    }

    /// What is secret is nobody else's to read.
    private func permissions() -> [Diagnosis] {
        let files = [self.type.key ?? self.type.identity, self.type.passphraseFile].compactMap { $0 }
        return files.compactMap { Diagnosis.ofSecret($0, subject: "\(self.name): \($0)") }
    }

    private static func validity(
        _ subject: String,
        _ validity: SigningIdentity.Validity,
        until end: Int64,
        renewal: String
    ) -> Diagnosis {
        let date = WallTime(seconds: end).rfc3339
        switch validity {
        case .valid: return .good(subject, "valid until \(date)")
        case .ending(let days): return .bad(subject, "expires in \(days) days, at \(date)", fix: renewal)
        case .expired: return .bad(subject, "expired at \(date)", fix: renewal)
        case .notYetValid:
            return .bad(subject, "is not valid yet", fix: "set this machine's clock, or wait until it is valid")
        }
    }

    /// The public listener's certificate, where one is configured.
    static func diagnoses(ofListener configuration: ServerConfiguration) async -> [Diagnosis] {
        guard let path = configuration.deviceCertificate else { return [] }
        do {
            _ = try await DeviceTLS.load(configuration, nil)
            guard let leaf = try await OrderTypeLoading.certificates(path).first else { return [] }
            let now = WallTime.now().seconds
            let days = Int((leaf.notAfter - now) / 86_400)
            let validity: SigningIdentity.Validity =
                now > leaf.notAfter
                ? .expired : now < leaf.notBefore ? .notYetValid : days < 30 ? .ending(days: days) : .valid
            let certificate = self.validity(
                "device.certificate",
                validity,
                until: leaf.notAfter,
                renewal: "renew it, put the files in place, send SIGHUP"
            )
            let key = configuration.deviceKey.flatMap { Diagnosis.ofSecret($0, subject: "device.key: \($0)") }
            return [certificate] + [key].compactMap { $0 }
        } catch {
            let faults = (error as? ConfigurationError)?.faults ?? ["\(error)"]
            return faults.map { .bad("device.certificate", $0, fix: "mend the files that it and device.key name") }
        }
    }
}
