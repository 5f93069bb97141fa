// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderStore

extension DeviceAPI {
    /// `POST /v1/devices/{device}/registrations/{type}/{order}`: 201 the first time, 200 when it was known, with the new push
    /// token in force at once.
    ///
    /// Source: Apple, "Register a device for update notifications".
    internal func register(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        let head = try await self.authorize(request, parameters)
        let device = try Self.device(parameters)
        let pushToken = try Self.pushToken(request.body)
        switch try await self.store.register(device, pushToken: pushToken, for: head.key) {
        case .registered: return HTTPResponse(.created)
        case .known: return HTTPResponse(.ok)
        case .orderUnknown: throw Self.unauthorized
        case .full:
            throw Problem(
                .tooManyRequests,
                code: "too-many-devices",
                detail: "As many devices follow this order as may.",
                headers: ["retry-after": "3600"]
            )
        }
    }

    /// `DELETE /v1/devices/{device}/registrations/{type}/{order}`: 200, also when there was nothing to remove.
    ///
    /// Source: Apple, "Unregister a device from update notifications".
    internal func unregister(_ request: HTTPRequest, _ parameters: RouteParameters) async throws -> HTTPResponse {
        let head = try await self.authorize(request, parameters)
        try await self.store.unregister(try Self.device(parameters), from: head.key)
        return HTTPResponse(.ok)
    }

    /// The device of a path.
    internal static func device(_ parameters: RouteParameters) throws -> DeviceIdentifier {
        do { return try DeviceIdentifier(parameters["device"]) } catch {
            throw Problem.badRequest("\(error)", code: "malformed-device-identifier")
        }
    }

    /// The token of a body `{"pushToken": "…"}`. The content type does not matter: some devices send none.
    private static func pushToken(_ body: [UInt8]) throws -> PushToken {
        let value: JSONValue
        do { value = try JSONValue(parsing: body) } catch { throw Problem.unreadableJSON(error) }
        guard let text = value["pushToken"]?.stringValue else {
            throw Problem.badRequest(
                "The body must be an object with the string \"pushToken\".",
                code: "malformed-push-token"
            )
        }
        do { return try PushToken(text) } catch {
            throw Problem.badRequest("\(error)", code: "malformed-push-token")
        }
    }
}
