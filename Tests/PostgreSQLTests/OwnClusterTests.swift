// SPDX-License-Identifier: Apache-2.0
import Testing

/// Tests that make clusters of their own, one at a time: each is a dozen processes.
@Suite(.serialized)
enum OwnClusterTests {}
