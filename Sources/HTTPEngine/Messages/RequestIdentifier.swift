// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Where a request's identifier comes from.
enum RequestIdentifier {
    /// The caller's `Request-Id` when it is 1 to 128 bytes of `[A-Za-z0-9._-]`, else a fresh one.
    ///
    /// Anything else could carry line breaks into a log, or be longer than what is being logged.
    static func of(_ headers: HTTPFields) -> String {
        if let given = headers.first("request-id"), isSane(given) { return given }
        return make()
    }

    private static func isSane(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...128).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// 60 well-mixed bits in base 32: a counter from a random start, so two requests of a process never share one.
    ///
    /// It is a name, not a secret; asking the kernel for random bytes would be a system call a request.
    private static func make() -> String {
        var mixed = next.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        let bits = mixed ^ (mixed >> 31)
        // Short enough to live inside the String's own words.
        return unsafe String(unsafeUninitializedCapacity: 12) { buffer in
            for index in 0..<12 {
                let digit = UInt8(truncatingIfNeeded: (bits >> (5 * UInt64(index))) & 31)
                unsafe buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 12
        }
    }

    private static let next = Atomic<UInt64>(.random(in: .min ... .max))
}
