// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the process was started with.
package enum ProcessEnvironment {
    /// All environment variables.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let parts = unsafe String(cString: entry).split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            unsafe next += 1
        }
        return variables
    }

    /// The current folder.
    package static var currentDirectory: String {
        guard let path = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The file that this program was started from.
    package static var executable: String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer -> Int in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", start, buffer.count)
        }
        return count > 0 && count < buffer.count ? String(decoding: buffer[0..<count], as: UTF8.self) : nil
    }
}
