// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The identity of a revision: what its package holds, and when it was made.
///
/// Never the revision number: after a failover that lost revision 8 there is another revision 8.
enum RevisionDigest {
    static func make(document: String, parts: SHA256Digest, modifiedAt: Int64) -> SHA256Digest {
        SHA256.hash([Array(document.utf8), [0], parts.bytes, Array(String(modifiedAt).utf8)])
    }
}
