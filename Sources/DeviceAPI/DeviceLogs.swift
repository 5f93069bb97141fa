// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import OrderStore
internal import ServiceRuntime

/// Sorts device log lines by what they complain of, and bounds how many are kept: anyone may send them.
internal struct DeviceLogs: Sendable {
    /// Lines a minute that are kept from one address, an IPv6 /64 counted as one.
    static let linesPerAddress = 60
    /// Lines a minute that are kept of all addresses together.
    static let linesPerMinute = 1_200
    /// Lines a minute that the service's own log has of all addresses together: it is no stranger's to fill.
    static let linesInLog = 60
    /// How much of a line is looked at and kept, in bytes.
    static let lineLength = 1_000

    private struct Window: Sendable {
        var start = MonotonicTime.now()
        var total = 0
        var inLog = 0
        // short: an address as NetworkAddress writes it.
        var counts: [String: Int] = [:]
    }
    private let metrics: Metrics
    private let window = Locked(Window())

    init(metrics: Metrics) {
        self.metrics = metrics
    }

    /// Counts all lines by kind, those over the limits as `dropped`, and gives the others back, ready to be kept.
    func accept(_ lines: some Sequence<String>, from address: String) -> [DeviceLogLine] {
        let lines = Array(lines)
        let room = self.room(for: lines.count, from: address)
        let kept = lines.prefix(room).map { line in
            let bytes = Array(line.utf8.prefix(Self.lineLength))
            return DeviceLogLine(
                kind: Self.kind(of: bytes),
                message: DeviceLogText.readable(bytes),
                key: DeviceLogOrder.key(in: bytes)
            )
        }
        for line in kept { self.counter(line.kind).increment() }
        if kept.count < lines.count { self.counter("dropped").increment(by: lines.count - kept.count) }
        return kept
    }

    /// How many of so many kept lines may stand in the service's own log.
    func roomInLog(for count: Int) -> Int {
        self.window.withLock { window in
            let room = min(count, Self.linesInLog - window.inLog)
            window.inLog += room
            return room
        }
    }

    private func room(for count: Int, from address: String) -> Int {
        self.window.withLock { window in
            let now = MonotonicTime.now()
            if now - window.start > .seconds(60) { window = Window(start: now) }
            // Counted is only who has lines kept, so there are never more addresses than lines.
            let used = window.counts[address, default: 0]
            let room = min(count, Self.linesPerAddress - used, Self.linesPerMinute - window.total)
            guard room > 0 else { return 0 }
            window.counts[address] = used + room
            window.total += room
            return room
        }
    }

    private func counter(_ kind: String) -> Counter {
        self.metrics.counter(
            "walletorders_device_log_lines_total",
            help: "Lines that devices sent to /v1/log.",
            labels: [("kind", kind)]
        )
    }

    /// What a line complains of; the words are those seen in the field.
    static func kind(of line: [UInt8]) -> String {
        let text = line.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        return self.kinds.first { self.contains(text, $0.words) }?.kind ?? "other"
    }

    private static let kinds: [(words: [UInt8], kind: String)] = [
        ("did not provide a 'last-modified'", "no-last-modified"), ("ignored the 'if-modified-since'", "not-304"),
        ("unregistered", "unregistered"), ("was unchanged", "unchanged"), ("authentication failure", "authentication"),
        ("response code 401", "authentication"), ("signature", "signature"), ("manifest", "manifest"),
        ("response code", "response-code"),
    ].map { (Array($0.0.utf8), $0.1) }

    private static func contains(_ text: [UInt8], _ words: [UInt8]) -> Bool {
        guard let first = words.first, text.count >= words.count else { return false }
        for start in 0...(text.count - words.count) where text[start] == first {
            if text[start..<(start + words.count)].elementsEqual(words) { return true }
        }
        return false
    }
}

/// Makes a line that a stranger sent fit to be kept and shown.
internal enum DeviceLogText {
    /// Words of this length or more are taken for secrets: tokens, device identifiers.
    private static let secretLength = 24

    /// The line without what could act on a terminal or change how it reads, and without secrets: each is replaced by the
    /// first 12 hex digits of its SHA-256, as histories show devices, so that lines of one device stay together.
    static func readable(_ line: [UInt8]) -> String {
        var result = ""
        var word: [UInt8] = []
        var isDevice = false
        func flush() {
            guard !word.isEmpty else { return }
            let text = String(decoding: word, as: UTF8.self)
            let isDeviceName = isDevice && word.contains { (0x30...0x39).contains($0) }
            let isSecret = isDeviceName || (word.count >= self.secretLength && !self.isUUID(word))
            result += isSecret ? "#" + SHA256.hash(word).hex.prefix(12) : text
            isDevice = !isDevice && text.lowercased() == "device"
            word = []
        }
        for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
            if self.isWord(scalar) {
                word.append(UInt8(truncatingIfNeeded: scalar.value))
                continue
            }
            flush()
            if scalar != " " { isDevice = false }
            if self.isHidden(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        flush()
        return result
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", "-", "_": true
        default: false
        }
    }

    /// Controls, line separators and marks that turn the writing direction.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f...0x9f, 0x61c, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x2069, 0xfeff: true
        default: false
        }
    }

    /// Whether a word has the form of a UUID: what most merchants take for order identifiers.
    private static func isUUID(_ word: [UInt8]) -> Bool {
        word.count == 36
            && word.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index) == (byte == UInt8(ascii: "-"))
            }
    }
}
