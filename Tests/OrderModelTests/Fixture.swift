// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import FoundationEssentials

@testable import OrderModel

/// Files beside the tests.
enum Fixture {
    struct Missing: Error { let name: String }

    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard let data = FileManager.default.contents(atPath: folder + "/Fixtures/" + name) else {
            throw Missing(name: name)
        }
        return [UInt8](data)
    }

    static func json(_ name: String) throws -> JSONValue { try JSONValue(parsing: bytes(name)) }
}

extension JSONValue {
    init(text: String) throws { try self.init(parsing: Array(text.utf8)) }

    /// The value with one member, named by a pointer, set or (nil) taken out.
    func replacing(_ pointer: String, with value: JSONValue?) throws -> JSONValue {
        let tokens = JSONPointer(pointer)?.tokens ?? []
        return replacing(tokens[...], with: value)
    }

    private func replacing(_ tokens: ArraySlice<String>, with value: JSONValue?) -> JSONValue {
        guard let first = tokens.first else { return value ?? .null }
        switch self {
        case .object(var object):
            if tokens.count == 1 {
                object[first] = value
            } else {
                object[first] = (object[first] ?? .object(JSONObject())).replacing(tokens.dropFirst(), with: value)
            }
            return .object(object)
        case .array(var elements):
            guard let index = Int(first), index <= elements.count else { return self }
            if index == elements.count { elements.append(.object(JSONObject())) }
            if tokens.count == 1, value == nil {
                elements.remove(at: index)
            } else {
                elements[index] = elements[index].replacing(tokens.dropFirst(), with: value)
            }
            return .array(elements)
        default: return self
        }
    }
}

extension Finding {
    /// "error unknown-member /status": what most tests compare.
    var summary: String { "\(severity.rawValue) \(code) \(pointer?.description ?? path ?? "")" }
}
