// SPDX-License-Identifier: Apache-2.0

/// Bytes that nobody else may see, such as a passphrase: wiped from memory when the last copy goes, and never printed.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private final class Storage: @unchecked Sendable {
        // Changed by nobody but deinit, which runs when no other reference is left.
        var bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        deinit { bytes.wipe() }
    }

    private let storage: Storage

    /// Takes the bytes over; whoever made the array drops it.
    public init(_ bytes: [UInt8]) { storage = Storage(bytes) }

    /// The bytes, for the call that needs them.
    package var bytes: [UInt8] { storage.bytes }

    /// Compares in time that depends on the lengths alone.
    public static func == (left: Secret, right: Secret) -> Bool { constantTimeEqual(left.bytes, right.bytes) }

    /// Never the bytes.
    public var description: String { "(secret)" }

    /// Never the bytes.
    public var debugDescription: String { description }

    /// Without the bytes, so that `dump` has nothing to show.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
