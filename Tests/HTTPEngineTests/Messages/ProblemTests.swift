// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import HTTPEngine

@Suite("Problem documents")
struct ProblemTests {
    @Test("a problem becomes its document")
    func document() throws {
        let problem = Problem(
            .conflict,
            code: "order-exists",
            title: "The order exists",
            detail: "Use PUT.",
            extensions: JSONObject([("errors", .array([])), ("status", .string("overwritten"))]),
            headers: ["retry-after": "2"]
        )
        let response = problem.response(requestIdentifier: "r1")
        #expect(response.status == .conflict)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["retry-after"] == "2")
        let json = try JSONValue(parsing: response.body.joined)
        #expect(json["status"]?.int64Value == 409)
        #expect(json["code"] == "order-exists")
        #expect(json["title"] == "The order exists")
        #expect(json["detail"] == "Use PUT.")
        #expect(json["requestId"] == "r1")
        #expect(json["errors"] == .array([]))
    }

    @Test("the title is the status' phrase unless given")
    func defaultTitle() {
        #expect(Problem(.notFound, code: "x").title == "Not Found")
    }
}
