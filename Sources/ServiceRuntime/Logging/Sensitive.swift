// SPDX-License-Identifier: Apache-2.0

/// A value that no log, error or dump may show: a token, a passphrase, something personal.
package struct Sensitive<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The value itself. Read it where it is used, never where it is printed.
    package let value: Value

    /// Wraps a value.
    package init(_ value: Value) {
        self.value = value
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
