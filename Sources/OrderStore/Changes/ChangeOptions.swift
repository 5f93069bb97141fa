// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel

/// How a change is to be made.
package struct ChangeOptions: Sendable {
    /// What the present state must be.
    package var ifMatch: Precondition
    /// Answers in full and stores nothing; takes no locks.
    package var validateOnly: Bool
    /// Whether an order completes by itself when all its fulfillments are final.
    package var completeWhenFulfilled: Bool
    /// How documents are judged.
    package var validation: ValidationOptions
    /// The API key that asked, for the history.
    package var actor: String?

    /// The usual change: no condition, stored, the strict reading.
    package init(
        ifMatch: Precondition = .none,
        validateOnly: Bool = false,
        completeWhenFulfilled: Bool = false,
        validation: ValidationOptions = ValidationOptions(),
        actor: String? = nil
    ) {
        self.ifMatch = ifMatch
        self.validateOnly = validateOnly
        self.completeWhenFulfilled = completeWhenFulfilled
        self.validation = validation
        self.actor = actor
    }
}

extension ChangeOptions {
    /// How documents are judged here: what the service fills in is not in them yet.
    var stored: ValidationOptions {
        var validation = validation
        validation.isServiceFilled = true
        return validation
    }

    /// How logs are folded.
    var fold: OrderFold { OrderFold(FoldOptions(completeWhenFulfilled: completeWhenFulfilled, validation: stored)) }
}

/// `If-Match` (RFC 9110 13.1.1).
package enum Precondition: Sendable, Hashable {
    /// None was sent.
    case none
    /// `*`: the order must exist, which every change asks for anyway.
    case exists
    /// One of these tags, quotes included, must be the present one.
    case entityTags([String])

    func holds(for digest: SHA256Digest) -> Bool {
        guard case .entityTags(let tags) = self else { return true }
        return tags.contains(OrderHead.entityTag(digest))
    }
}
