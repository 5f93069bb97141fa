// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
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

    @Test("what stands at a path is told without following links")
    func kinds() throws {
        let folder = "/tmp/walletorders-kinds-\(getpid())"
        try Files.createDirectory(folder)
        try Files.write([1, 2, 3], to: folder + "/file")
        #expect(unsafe symlink("file", folder + "/link") == 0)
        #expect(unsafe mkfifo(folder + "/pipe", 0o600) == 0)
        #expect(Files.kind(folder + "/file") == .file(3))
        #expect(Files.kind(folder) == .folder)
        #expect(Files.kind(folder + "/link") == .link)
        #expect(Files.kind(folder + "/pipe") == .other)
        #expect(Files.kind(folder + "/none") == nil)
        #expect(Files.isRegularFile(folder + "/link") && !Files.isRegularFile(folder + "/pipe"))
        try Files.removeTree(folder)
    }

    @Test("a folder has one holder at a time, and what keeps it from being known is an error")
    func folderLock() async throws {
        let folder = "/tmp/walletorders-lock-\(getpid())"
        try Files.createDirectory(folder)
        let hold = try FolderLock(folder)
        #expect(try !Self.isFree(folder))
        _ = consume hold
        #expect(try Self.isFree(folder))
        try Files.removeTree(folder)
        let gone = #expect(throws: SystemError.self) { try Self.isFree(folder) }
        #expect(gone?.errno == ENOENT && gone?.operation == "lock \(folder)")
        await #expect(processExitsWith: .success) {
            exhaustDescriptors(but: 0)
            let error = #expect(throws: SystemError.self) { try Self.isFree("/tmp") }
            #expect(error?.errno == EMFILE)
        }
    }

    private static func isFree(_ folder: String) throws(SystemError) -> Bool {
        guard let hold = try FolderLock(folder) else { return false }
        _ = consume hold
        return true
    }

    @Test("a file that must not be there yet is made once, whoever comes first")
    func createOnce() async throws {
        let folder = "/tmp/walletorders-create-\(getpid())"
        try Files.createDirectory(folder, mode: 0o700)
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<32 {
                group.addTask {
                    try await runBlocking { try Files.create([UInt8(number)], at: folder + "/key", mode: 0o600) }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try Files.list(folder) == ["key"])
        #expect(Files.permissions(ofFile: folder + "/key") == 0o600)
        #expect(Files.permissions(ofFile: folder) == nil)
        try Files.removeTree(folder)
    }
}
