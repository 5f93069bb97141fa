// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder for one test, removed with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/zipfiles-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ShellError.failed("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        _ = try? shell("rm -rf '\(path)'")
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        guard let handle = unsafe fopen(file, "w") else { throw ShellError.failed("cannot write \(file)") }
        let written = unsafe fwrite(bytes, 1, bytes.count, handle)
        guard unsafe fclose(handle) == 0, written == bytes.count else {
            throw ShellError.failed("cannot write \(file)")
        }
        return file
    }

    func read(_ name: String) throws -> [UInt8] {
        guard let handle = unsafe fopen(path + "/" + name, "r") else { throw ShellError.failed("cannot read \(name)") }
        defer { unsafe fclose(handle) }
        return unsafe readAll(handle)
    }
}

enum ShellError: Error {
    case failed(String)
}

/// Runs a command line and gives its status and what it printed on both outputs.
func shell(_ command: String) throws -> (status: Int32, output: String) {
    guard let pipe = unsafe popen("(\(command)) 2>&1", "r") else { throw ShellError.failed(command) }
    let output = unsafe readAll(pipe)
    let status = unsafe pclose(pipe)
    return (status >> 8 & 0xFF, String(decoding: output, as: UTF8.self))
}

private func readAll(_ handle: UnsafeMutablePointer<FILE>) -> [UInt8] {
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, handle)
        if count == 0 { return output }
        output.append(contentsOf: buffer[..<count])
    }
}
