// SPDX-License-Identifier: Apache-2.0
// Fuzzes the HTTP/1.1 request and response parsers. Compiled as one module with the codec, on top of ExactJSON; the command is
// in scripts/fuzz.

/// Reads the input whole and in pieces whose sizes it names itself; traps when the two differ, when a body grows beyond its
/// limit, or when a field could end its line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP1(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let input = bytes.dropFirst()
    let whole = requests([Array(input)])
    var pieces: [[UInt8]] = []
    var rest = input
    var size = Int(first) % 31 + 1
    while let next = rest.first {
        pieces.append(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
        size = (size + Int(next)) % 61 + 1
    }
    precondition(requests(pieces) == whole, "splitting the input changes what is read")
    _ = responses(pieces, method: first & 1 == 0 ? .get : .head)
    return 0
}

private let bodyLimit = 1000

private func requests(_ pieces: [[UInt8]]) -> [HTTP1RequestEvent] {
    var parser = HTTP1RequestParser(bodyLimit: bodyLimit)
    var events: [HTTP1RequestEvent] = []
    for piece in pieces {
        parser.feed(piece)
        while let event = parser.next() {
            if case .body(let more) = event, case .body(let before)? = events.last {
                precondition(before.count + more.count <= bodyLimit, "a body is larger than its limit")
                events[events.count - 1] = .body(before + more)
            } else {
                if case .head(let head) = event { check(head.fields) }
                events.append(event)
            }
        }
    }
    return events
}

private func responses(_ pieces: [[UInt8]], method: HTTPMethod) -> Int {
    var parser = HTTP1ResponseParser(bodyLimit: bodyLimit)
    parser.method = method
    var events = 0
    for piece in pieces {
        parser.feed(piece)
        while let event = parser.next() {
            if case .head(let head) = event { check(head.fields) }
            events += 1
        }
    }
    _ = parser.endOfInput()
    return events
}

private func check(_ fields: HTTPFields) {
    for field in fields {
        precondition(!field.name.isEmpty && field.name == field.name.lowercased(), "a name is not lower-case")
        precondition(
            field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 },
            "a value has a control character"
        )
    }
}
