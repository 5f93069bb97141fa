// SPDX-License-Identifier: Apache-2.0

/// Puts a message's head together in memory that is there already: one check of the room for each text, none of the array's.
@safe
struct HTTP1HeadWriter: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes were written.
    private(set) var count = 0

    /// - Parameter memory: has to outlive the writer.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { unsafe self.memory = UnsafeMutableRawBufferPointer(memory) }

    /// Writes bytes.
    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        let end = self.count + bytes.count
        unsafe precondition(end <= self.memory.count, "a head is longer than was reckoned")
        if let target = unsafe self.memory.baseAddress, let source = bytes.baseAddress {
            unsafe (target + self.count).copyMemory(from: source, byteCount: bytes.count)
        }
        self.count = end
    }

    /// Writes bytes.
    mutating func write(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe self.write($0) } }

    /// Writes a constant text.
    mutating func write(_ text: StaticString) { text.withUTF8Buffer { unsafe self.write($0) } }

    /// Writes a text.
    mutating func write(_ text: String) {
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe self.write($0) }
        if isDone == nil { self.write(Array(text.utf8)) }
    }

    /// Writes a number of 0 or more in decimal digits.
    mutating func write(_ number: Int) {
        var digits = 1
        var rest = UInt(number)
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        let end = self.count + digits
        unsafe precondition(end <= self.memory.count, "a head is longer than was reckoned")
        rest = UInt(number)
        for index in stride(from: end - 1, through: self.count, by: -1) {
            unsafe self.memory[index] = UInt8(truncatingIfNeeded: rest % 10) + 0x30
            rest /= 10
        }
        self.count = end
    }

    /// Writes a field line.
    mutating func write(_ name: String, _ value: String) {
        self.write(name)
        self.write(": ")
        self.write(value)
        self.write("\r\n")
    }
}
