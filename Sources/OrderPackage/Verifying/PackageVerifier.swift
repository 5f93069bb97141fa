// SPDX-License-Identifier: Apache-2.0

public import Cryptography
import ExactJSON
import OrderModel
import ServiceRuntime

/// Explains everything that would make Wallet refuse a package, in one pass.
///
/// Wallet itself only says that the order can't be read. Not checked: revocation, which needs the network, and whether
/// the merchant identifier belongs to the certificate's team, which only Apple knows.
public struct PackageVerifier: Sendable {
    private let roots: [Certificate]
    private let intermediates: [Certificate]
    private let time: Int64?
    private let memory = ChainMemory()

    /// A verifier.
    ///
    /// - Parameters:
    ///   - trust: roots to trust besides Apple's, such as a test authority's.
    ///   - intermediates: certificates for chains whose package doesn't embed them.
    ///   - time: the moment at which certificates are judged, in seconds since 1970; nil for the signing time, as
    ///     Wallet does it.
    public init(trust: [Certificate] = [], intermediates: [Certificate] = [], at time: Int64? = nil) {
        roots = AppleAuthority.roots + trust
        self.intermediates = AppleAuthority.intermediates + intermediates
        self.time = time
    }

    /// Checks the bytes of a `.order` file.
    public func verify(_ bytes: [UInt8]) -> VerificationReport {
        verify(ArchiveCheck(archive: bytes), "archive")
    }

    /// Checks the files of an unpacked package.
    ///
    /// - Parameter files: all files with their paths, `manifest.json` and `signature` among them.
    public func verify(files: [(path: String, contents: [UInt8])]) -> VerificationReport {
        verify(ArchiveCheck(files: files), "folder")
    }

    /// Checks an unpacked package on disk, and tells of what lies there and is no file.
    public func verify(_ folder: UnpackedFolder) -> VerificationReport {
        verify(ArchiveCheck(files: folder.files, unread: folder.unread, findings: folder.findings), "folder")
    }

    private func verify(_ archive: ArchiveCheck, _ name: String) -> VerificationReport {
        var report = VerificationReport()
        report.checked.append(name)
        report.findings += archive.list.findings
        report.files = archive.files
        // What holds no file has no other faults.
        guard !archive.files.isEmpty else {
            if report.isValid {
                report.findings.append(
                    Finding(
                        severity: .error,
                        code: "package-empty",
                        path: ArchiveCheck.whole,
                        message: "The package holds no files.",
                        fix: "Put order.json, manifest.json, signature and the images into it."
                    )
                )
            }
            report.limitFindings()
            return report
        }
        report.checked.append("manifest")
        report.findings += ManifestCheck(archive).list.findings
        checkSignature(archive, &report)
        checkOrder(archive, &report)
        report.limitFindings()
        return report
    }

    private func checkSignature(_ archive: ArchiveCheck, _ report: inout VerificationReport) {
        let signature = SignatureCheck(archive, others: intermediates, memory: memory)
        report.checked.append("signature")
        report.findings += signature.list.findings
        report.signer = signature.signer
        report.certificates = signature.data?.certificates ?? []
        report.signingTime = signature.signingTime
        let now = WallTime.now().seconds
        if let made = signature.signingTime, SigningTime.isFuture(made, at: max(now, time ?? now)) {
            report.findings.append(
                Finding(
                    severity: .warning,
                    code: SigningTime.future,
                    path: SignatureCheck.path,
                    message: "The package says it was signed at \(WallTime(seconds: made).rfc3339), in the future.",
                    fix: "Set the signing machine's clock."
                )
            )
        }
        guard let leaf = signature.signer else { return }
        let chain = ChainCheck(
            leaf: leaf,
            embedded: report.certificates,
            known: intermediates,
            roots: roots,
            at: time ?? signature.signingTime ?? now,
            isAskedFor: time != nil,
            memory: memory
        )
        report.checked.append("certificates")
        report.findings += chain.list.findings
    }

    private func checkOrder(_ archive: ArchiveCheck, _ report: inout VerificationReport) {
        guard archive.has("order.json") else {
            report.findings.append(
                Finding(
                    severity: .error,
                    code: "order-missing",
                    path: "order.json",
                    message: "The package has no order.json.",
                    fix: "Put the order, as JSON, into order.json at the top level."
                )
            )
            return
        }
        guard let bytes = archive.contents("order.json"), !bytes.isEmpty else { return }
        report.checked.append("order")
        let order: JSONValue
        do throws(JSONSyntaxError) {
            // As much as is taken where orders come in: what can be signed can be verified. Wallet's own bounds aren't known.
            order = try JSONValue(parsing: bytes, limits: OrderDocument.limits)
        } catch {
            report.findings.append(Finding(syntax: error, path: "order.json"))
            return
        }
        report.order = order
        if let finding = FinishedOrder.markFinding("order.json", bytes) { report.findings.append(finding) }
        // Wallet passes over members it doesn't know, so they are no reason for it to refuse.
        let (document, findings) = OrderDocument.validate(order, ValidationOptions(unknownMembers: .warn))
        report.document = document
        report.findings += findings.map(FinishedOrder.finding)
        checkOrderType(order, &report)
        // What the order names is no leftover.
        let named = StrayFile.named(by: order, among: archive.paths.lazy.map(\.text))
        report.findings.removeAll { $0.code == "stray-file" && $0.path.map { named.contains(ExactKey($0)) } == true }
        report.checked.append("files")
        report.findings += FileCheck.check(order, archive.presentFiles)
    }

    private func checkOrderType(_ order: JSONValue, _ report: inout VerificationReport) {
        guard let type = order["orderTypeIdentifier"]?.stringValue,
            let signed = report.signer?.extensionString(WalletPolicy.orderType), !type.isExactly(signed)
        else { return }
        report.findings.append(
            Finding(
                severity: .error,
                code: "order-type-mismatch",
                pointer: .root.appending("orderTypeIdentifier"),
                message: "The order is of type \(type), but the certificate signs \(signed).",
                fix: "Sign with the certificate of this order type; upper and lower case count."
            )
        )
    }
}
