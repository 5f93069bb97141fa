// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ExactJSON
import OrderModel
import OrderStore
import ServiceRuntime

/// An order's story for a screen: the newest of each kind.
enum HistoryText {
    /// The most lines of one kind.
    private static let most = 12

    /// A worker at work takes no longer than this, in seconds, to come to what is due.
    private static let late: Int64 = 60

    static func lines(_ history: OrderHistory) -> [String] {
        let head = history.head
        var lines = [
            "\(head.key.orderType.text) \(head.key.order.text)",
            head.isErased
                ? "erased" + (history.erasedAt.map { " at \($0.wallTime.rfc3339)" } ?? "")
                    + ", after \(head.revision) \(head.revision == 1 ? "revision" : "revisions"), the last updated "
                    + "\(head.modifiedAt.rfc3339); nothing else is kept"
                : "revision \(head.revision), \(head.status), updated \(head.modifiedAt.rfc3339)",
        ]
        if head.isErased { return lines }
        func add(_ title: String, _ rows: [String]) {
            lines += ["", rows.isEmpty ? "\(title): none" : "\(title):"]
            if rows.count > self.most { lines.append("  … \(rows.count - self.most) earlier ones: --json shows all") }
            lines += rows.suffix(self.most).map { "  \($0)" }
        }
        add(
            "Revisions",
            history.revisions.sorted { $0.revision < $1.revision }.map { revision in
                "\(revision.revision)  \(revision.modifiedAt.rfc3339)  \(revision.cause)"
                    + (revision.actor.map { " by \($0)" } ?? "") + "  \(revision.changes.joined(separator: " "))"
            }
        )
        add(
            "Events",
            history.events.map { event in
                var verdict = event.verdict
                if let present = event.presentVerdict, present != verdict { verdict += ", now \(present)" }
                return "\(event.occurredAt.wallTime.rfc3339)  \(event.kind) \(event.identifier)  \(verdict)  "
                    + "revision \(event.revision)"
                    + event.errors.compactMap { $0["message"]?.stringValue }.map { "  (\($0))" }.joined()
            }
        )
        add("Devices", history.devices.map(self.line))
        add(
            "Fetched",
            history.reads.sorted { $0.revision < $1.revision }.map { reads in
                "revision \(reads.revision): \(reads.fullAnswers) packages, \(reads.notModified) not modified, last "
                    + reads.lastAt.wallTime.rfc3339
            }
        )
        add(
            "Device log",
            history.log.map { "\($0.receivedAt.wallTime.rfc3339)  \($0.line.kind)  \($0.line.message)" }
        )
        return lines
    }

    private static func line(_ device: OrderHistory.Device) -> String {
        // The identifier itself would open the list of the device's orders.
        var line = "\(self.name(device.device.text))  since \(device.registeredAt.wallTime.rfc3339)"
        if device.tokenSince == nil {
            return line + "  no push token: APNs no longer knew it" + (device.reason.map { " (\($0))" } ?? "")
        }
        line += device.pushedAt.map { "  pushed \($0.wallTime.rfc3339)" } ?? "  not pushed to yet"
        if device.isDead {
            line += "  given up"
        } else if device.isInFlight {
            line += "  being sent"
        } else if let due = device.dueAt {
            line += "  due \(due.wallTime.rfc3339) after \(device.attempts) \(device.attempts == 1 ? "try" : "tries")"
            if due.wallTime.seconds < WallTime.now().seconds - Self.late {
                line +=
                    ", overdue: the worker's /readyz and 'walletorders doctor' tell whether pushes are stopped, and why"
            }
        }
        return line + (device.reason.map { " (\($0))" } ?? "")
    }

    /// What a device is called where its identifier must not be.
    static func name(_ device: String) -> String { String(SHA256.hash(Array(device.utf8)).hex.prefix(12)) }
}
