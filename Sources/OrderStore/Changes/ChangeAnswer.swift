// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import ExactJSON
package import OrderModel
package import ServiceRuntime

/// What an event did when it came first. A duplicate gets the same answer, marked as one.
package struct EventAnswer: Sendable, Hashable {
    /// The event.
    package let eventIdentifier: String
    /// Whether it changed the document.
    package let applied: Bool
    /// `applied`, or why not: `stale`, `final`, `waiting`, `same`, `type-mismatch`, `invalid-here`.
    package let reason: String
    /// The order's revision after it.
    package let revision: Int64
    /// That revision's time.
    package let updatedAt: WallTime
    /// JSON pointers of what changed in the document.
    package let changed: [String]
    /// Why it could not be applied, as findings: of `type-mismatch` and `invalid-here`. Pointers begin at the event.
    package let errors: [JSONValue]
    /// Whether the event had come before.
    package let duplicate: Bool
}

/// What a change of the document or of the order's files did.
package struct ChangeAnswer: Sendable {
    /// The order's revision after it.
    package let revision: Int64
    /// That revision's time.
    package let updatedAt: WallTime
    /// That revision's identity.
    package let digest: SHA256Digest
    /// JSON pointers of what changed in the document, or names of files.
    package let changed: [String]
    /// Warnings and notes about the document, and about the names of files when files were changed.
    package let findings: [Finding]
    /// Names in the document that no file answers to, looked up when files or their names changed.
    package let missingFiles: [String]
    /// False when nothing changed, so that nothing was stored and nobody is told.
    package let isNewRevision: Bool

    /// The strong validator at the merchant's door.
    package var entityTag: String { OrderHead.entityTag(digest) }
}

/// An event and its order, for events of many orders at once.
package struct KeyedEvent: Sendable {
    /// The order.
    package let key: OrderKey
    /// The event.
    package let event: OrderEvent

    /// Puts an event to its order.
    package init(key: OrderKey, event: OrderEvent) {
        self.key = key
        self.event = event
    }
}
