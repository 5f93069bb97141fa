// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

@Suite("Files")
struct FilesTests {
    @Test("are written whole, with their mode, read back within a limit, and removed with their folder")
    func roundTrip() throws {
        let folder = "/tmp/walletorders-files-\(getpid())/a/b"
        try Files.createDirectory(folder, mode: 0o700)
        try Files.createDirectory(folder, mode: 0o700)
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        try Files.write(bytes, to: folder + "/x", mode: 0o600)
        try Files.write([1], to: folder + "/y")
        #expect(try Files.read(folder + "/x") == bytes)
        #expect(try Files.list(folder) == ["x", "y"])
        #expect(throws: SystemError(operation: "read \(folder)/x", errno: EFBIG)) {
            try Files.read(folder + "/x", limit: 199_999)
        }
        #expect(throws: SystemError(operation: "read /nonexistent", errno: ENOENT)) { try Files.read("/nonexistent") }
        #expect(throws: SystemError.self) { try Files.write([1], to: "/nonexistent/x") }
        try Files.removeTree("/tmp/walletorders-files-\(getpid())")
        #expect(!Files.exists(folder))
    }
}
