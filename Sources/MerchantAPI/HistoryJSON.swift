// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
package import ExactJSON
internal import OrderModel
package import OrderStore
internal import ServiceRuntime

extension OrderHistory {
    /// The story as the API tells it. A device identifier is a secret: what is shown is a short digest of it, enough to
    /// tell two devices apart.
    package var json: JSONValue {
        [
            "orderTypeIdentifier": .string(self.head.key.orderType.text),
            "orderIdentifier": .string(self.head.key.order.text),
            "revision": .number(JSONNumber(self.head.revision)), "erased": .bool(self.head.isErased),
            "erasedAt": self.erasedAt.map(\.json) ?? .null,
            "revisions": .array(self.revisions.map(\.json)), "events": .array(self.events.map(\.json)),
            "truncated": .array(self.truncated.map { .string($0) }), "devices": .array(self.devices.map(\.json)),
            "reads": .array(
                self.reads.map { reads in
                    [
                        "revision": .number(JSONNumber(reads.revision)),
                        "packages": .number(JSONNumber(reads.fullAnswers)),
                        "notModified": .number(JSONNumber(reads.notModified)), "firstAt": reads.firstAt.json,
                        "lastAt": reads.lastAt.json,
                    ]
                }
            ),
            "log": .array(
                self.log.map { entry in
                    [
                        "receivedAt": entry.receivedAt.json, "kind": .string(entry.line.kind),
                        "message": .string(entry.line.message),
                    ]
                }
            ),
        ]
    }
}

extension OrderHistory.Revision {
    fileprivate var json: JSONValue {
        [
            "revision": .number(JSONNumber(self.revision)), "updatedAt": .string(self.modifiedAt.rfc3339),
            "recordedAt": self.recordedAt.json, "cause": .string(self.cause),
            "actor": self.actor.map { .string($0) } ?? .null, "changed": .array(self.changes.map { .string($0) }),
        ]
    }
}

extension OrderHistory.Event {
    fileprivate var json: JSONValue {
        [
            "eventIdentifier": .string(self.identifier), "kind": .string(self.kind), "occurredAt": self.occurredAt.json,
            "receivedAt": self.receivedAt.json, "verdict": .string(self.verdict),
            "presentVerdict": self.presentVerdict.map { .string($0) } ?? .null,
            "changed": .array(self.changes.map { .string($0) }), "errors": .array(self.errors),
            "revision": .number(JSONNumber(self.revision)), "actor": self.actor.map { .string($0) } ?? .null,
        ]
    }
}

extension OrderHistory.Device {
    fileprivate var json: JSONValue {
        [
            "device": .string(String(SHA256.hash(Array(self.device.text.utf8)).hex.prefix(12))),
            "registeredAt": self.registeredAt.json, "hasPushToken": .bool(self.tokenSince != nil),
            "pushDueAt": self.dueAt.map(\.json) ?? .null, "pushInFlight": .bool(self.isInFlight),
            "attempts": .number(JSONNumber(Int64(self.attempts))), "pushedAt": self.pushedAt.map(\.json) ?? .null,
            "outcome": self.outcome.map { .string($0) } ?? .null, "reason": self.reason.map { .string($0) } ?? .null,
            "givenUp": .bool(self.isDead),
        ]
    }
}

extension Moment {
    fileprivate var json: JSONValue { .string(self.wallTime.rfc3339) }
}
