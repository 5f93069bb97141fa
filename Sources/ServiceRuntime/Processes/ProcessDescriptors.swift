// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many files and sockets this process may have open (getrlimit(2), `RLIMIT_NOFILE`).
package enum ProcessDescriptors {
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Takes as many as this process may take without asking anybody.
    ///
    /// The lower limit that processes begin with, mostly 1,024, is for programs that keep descriptors in `select`'s sets.
    package static func raiseLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(self.resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(self.resource, &limit)
    }

    /// How many may be open at once.
    package static var limit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(self.resource, &limit) == 0 else { return 1_024 }
        return Int(clamping: limit.rlim_cur)
    }
}
