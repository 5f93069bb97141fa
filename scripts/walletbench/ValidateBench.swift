// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Glibc
import OrderModel
import ServiceRuntime

/// What `scripts/bench validate` and `scripts/differential` ask for: a line in, a line out.
enum ValidateBench {
    /// For each line `COUNT PATH`: validates the file's text that many times, parsing included, and prints the CPU
    /// seconds it took and how many findings there were.
    static func measure() throws {
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let count = Int(words[0]) else { throw UsageError("COUNT PATH") }
            let bytes = try Files.read(String(words[1]))
            var findings = 0
            let start = self.seconds()
            for _ in 0..<count { findings = OrderDocument.validate(text: bytes).findings.count }
            self.say("\(self.seconds() - start) \(findings)")
        }
    }

    /// For each line, one document: whether the checks call its shape right, and whether the schema does, as `1` or `0`;
    /// `-` for what is no JSON.
    static func verdicts() throws {
        let schema = try JSONSchema(OrderSchema.json, assertsFormats: true)
        while let line = readLine() {
            guard let order = try? JSONValue(parsing: Array(line.utf8)) else {
                self.say("- -")
                continue
            }
            let isShaped = OrderDocument.validate(order).findings
                .allSatisfy { !$0.isError || OrderSchema.ruleCodes.contains($0.code) }
            self.say("\(isShaped ? 1 : 0) \(schema.isValid(order) ? 1 : 0)")
        }
    }

    private static func say(_ text: String) {
        print(text)
        Files.flushStandardOutput()
    }

    private static func seconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
