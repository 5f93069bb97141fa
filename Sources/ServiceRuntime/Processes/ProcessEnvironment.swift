// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the process was started with.
package enum ProcessEnvironment {
    /// Puts something in place of standard input, output and error where the caller has closed them. Otherwise the first
    /// files and sockets that are opened would get their numbers, and results and logs be written into those.
    ///
    /// Reading or writing what was closed goes on failing: the wrong direction of /dev/null stands in.
    package static func holdStandardDescriptors() {
        for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one: those below are open by now.
            _ = unsafe open("/dev/null", mode)
        }
    }

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

    /// Removes the variables whose names begin so, for this process and its children. Must come before the first thread is
    /// started: another thread may be reading the environment.
    package static func remove(prefix: String) {
        for name in self.all.keys where name.hasPrefix(prefix) { unsafe unsetenv(name) }
    }

    /// The machine's name; empty when the system does not tell it.
    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
