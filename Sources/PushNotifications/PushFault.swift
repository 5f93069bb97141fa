// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the pushes of an order type, for the readiness page.
package struct PushFault: Sendable, Hashable, CustomStringConvertible {
    /// APNs' reason, or a word for the lack of an answer.
    package let reason: String
    /// Where, and what it means.
    package let detail: String
    /// Whether nothing is sent for it.
    package let isStopped: Bool

    init(reason: String, detail: String, isStopped: Bool = true) {
        self.reason = reason
        self.detail = detail
        self.isStopped = isStopped
    }

    package var description: String {
        "\(self.isStopped ? "pushes are stopped" : "pushes go on"): \(self.reason) (\(self.detail))"
    }
}
