// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What this process's memory may become.
package enum ProcessMemory {
    /// No core files, and no look inside by other processes of the same user: keys and tokens are in here.
    package static func keepPrivate() {
        _ = clinux_set_dumpable(0)
    }
}
