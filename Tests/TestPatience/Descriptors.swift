// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Leaves this process only so many descriptors to open. For a process of a test's own.
package func exhaustDescriptors(but left: Int) {
    // For none, the bound is where the standard streams end: one that another thread closes meanwhile would be free again.
    var limit = rlimit()
    limit.rlim_cur = left == 0 ? 3 : 512
    limit.rlim_max = 512
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var opened: [Int32] = []
    while true {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { break }
        opened.append(descriptor)
    }
    for descriptor in opened.suffix(left) { close(descriptor) }
}
