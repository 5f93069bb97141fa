// SPDX-License-Identifier: Apache-2.0

package import HTTPEngine
package import ServiceRuntime
import TestPatience
package import Testing

/// Holds what a request costs the loop that answers it against what walks along its bytes take: the bound is far above that,
/// and below one comparison of a long run of combining marks by Swift.
///
/// - Parameter times: how often it is sent, where single ones are too short to cost much.
package func expectLinear(
    _ what: String,
    on loop: EventLoop,
    times: Int = 1,
    _ location: SourceLocation = #_sourceLocation,
    _ send: @escaping @Sendable () async -> HTTPResponse
) async {
    let (answer, time) = await loop.run {
        var answer = HTTPResponse(.noContent)
        let time = await Patience.processorTime { for _ in 0..<times { answer = await send() } }
        return (answer, time)
    }
    #expect(time < .seconds(2) * Patience.factor, "\(what): \(time)", sourceLocation: location)
    #expect(answer.status.code < 500, "\(what): \(answer.status)", sourceLocation: location)
}
