// SPDX-License-Identifier: Apache-2.0

/// How a value is laid out as text.
public enum JSONStyle: Sendable, Hashable {
    /// No white space, members in their order.
    case compact
    /// Two spaces a level, members in their order.
    case pretty
    /// No white space, members sorted by the code points of their names: values that differ only in the order of
    /// members have the same bytes. Numbers keep their text, so `1.0` and `1` differ.
    case canonical
}
