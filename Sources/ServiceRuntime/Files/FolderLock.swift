// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder that a process holds: the system lets go of it when the process ends, however that comes about, and tells the
/// processes of other containers, too, which know each other by no number.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Takes hold of a folder; nil when another process has it.
    ///
    /// - Throws: why it can't be known, such as that the folder isn't there, or that no more files can be opened.
    package init?(_ folder: String) throws(SystemError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError.last("lock \(folder)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let fault = SystemError.last("lock \(folder)")
            close(descriptor)
            if fault.errno == EWOULDBLOCK { return nil }
            throw fault
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
