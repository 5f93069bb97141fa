// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc

/// Runs real programs against what we made.
enum Command {
    struct Failed: Error { let text: String }

    struct Answer: Sendable {
        let status: Int32
        /// Standard output and standard error together.
        let output: String
    }

    /// Starts a program found by `env`, with its output going to `output`; standard input is empty.
    static func start(_ arguments: [String], output: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe (["/usr/bin/env"] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let status = unsafe posix_spawn(&pid, "/usr/bin/env", &actions, nil, words, environ)
        guard status == 0 else { throw Failed(text: "can't start \(arguments)") }
        return pid
    }

    /// Runs a program to its end.
    static func run(_ arguments: [String]) throws -> Answer {
        let directory = try TemporaryDirectory()
        let path = directory.path("output")
        let file = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        defer { close(file) }
        let pid = try start(arguments, output: file)
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        let text = String(decoding: try directory.read("output"), as: UTF8.self)
        return Answer(status: status & 0x7f == 0 ? status >> 8 & 0xff : -1, output: text)
    }
}

/// A directory that goes away with the last reference.
final class TemporaryDirectory: Sendable {
    private let root: String

    init() throws {
        var template = Array("/tmp/cryptography-tests-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Command.Failed(text: "no temporary directory") }
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        if let directory = unsafe opendir(root) {
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                }
                if name != ".", name != ".." { unsafe unlink(path(name)) }
            }
            unsafe closedir(directory)
        }
        unsafe rmdir(root)
    }

    func path(_ name: String) -> String { root + "/" + name }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = unsafe open(path(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Command.Failed(text: "can't write \(name)") }
        defer { close(file) }
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Command.Failed(text: "can't write \(name)")
        }
        return path(name)
    }

    func read(_ name: String) throws -> [UInt8] {
        let file = unsafe open(path(name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Command.Failed(text: "can't read \(name)") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}

extension TestPKI {
    /// A signature of the leaf's key that the openssl program makes.
    func signatureByOpenSSL(of content: [UInt8], _ options: [String]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let key = try directory.write("key.pem", self.leafKey.pem())
        let leaf = try directory.write("leaf.pem", self.leaf.pem())
        let input = try directory.write("content", content)
        let answer = try Command.run(
            [
                "openssl", "cms", "-sign", "-binary", "-in", input, "-signer", leaf, "-inkey", key, "-outform", "DER",
                "-out", directory.path("out"),
            ] + options
        )
        guard answer.status == 0 else { throw Command.Failed(text: answer.output) }
        return try directory.read("out")
    }
}
