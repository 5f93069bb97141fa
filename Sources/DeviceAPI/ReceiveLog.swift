// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderStore
internal import ServiceRuntime

extension DeviceAPI {
    /// `POST /v1/log`: what a device complains of. Once the body is well-formed it is 200 whatever becomes of the lines: a
    /// device can do nothing about it.
    ///
    /// Source: Apple, "Log a message".
    internal func receiveLog(_ request: HTTPRequest) async throws -> HTTPResponse {
        let value: JSONValue
        do { value = try JSONValue(parsing: request.body) } catch { throw Problem.unreadableJSON(error) }
        guard let logs = value["logs"]?.arrayValue else {
            throw Problem.badRequest("The body must be an object with the array \"logs\".", code: "malformed-log")
        }
        // All of a Unix socket's clients are one, when their proxy is not trusted to tell theirs.
        let holder = AddressHolder.of(request.remoteAddress) ?? request.remoteAddress
        let accepted = self.logs.accept(logs.lazy.compactMap(\.stringValue), from: holder)
        do {
            let untold = try await OrderStore.answering { try await self.store.recordLog(accepted) }
            // Those that no order's history shows; without secrets by now, and in one line each.
            for line in untold.prefix(self.logs.roomInLog(for: untold.count)) {
                self.logger.info(
                    "a device complains, and names no order that there is",
                    ["kind": .string(line.kind), "line": .string(line.message)]
                )
            }
        } catch {
            self.logger.warning(
                "device log lines were not recorded",
                ["count": .integer(accepted.count), "error": "\(error)"]
            )
        }
        return HTTPResponse(.ok)
    }
}
