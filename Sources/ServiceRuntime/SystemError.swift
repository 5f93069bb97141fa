// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A failed system call: which one, and the `errno` it left.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The call that failed, for example `epoll_ctl` or `bind 127.0.0.1:8080`.
    package let operation: String
    /// The error number as the kernel gave it.
    package let errno: Int32

    /// Makes an error of an operation and its error number.
    package init(operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    /// The error that the last failed call on this thread left behind.
    package static func last(_ operation: String) -> SystemError {
        SystemError(operation: operation, errno: Glibc.errno)
    }

    package var description: String {
        let text = unsafe strerror(self.errno).map { unsafe String(cString: $0) } ?? "error"
        return "\(operation): \(text) (errno \(self.errno))"
    }
}
