// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
internal import HTTPEngine
internal import OrderStore

/// The parameters of a request and the switches that keep a route from writing, and which of them a route heeds.
///
/// One that a route does not heed is refused: whoever sends it means that nothing may happen otherwise (RFC 9110 13.1: the
/// method must not be performed when the condition is false), or that the answer is another one.
internal struct Switches: Sendable {
    /// Heeds `validateOnly`.
    var dryRun = false
    /// Heeds `If-Match`.
    var ifMatch = false
    /// Heeds `If-None-Match: *`.
    var ifNoneMatch = false
    /// Only reads: takes any `If-None-Match`, which at most saves the caller an answer that it has.
    var reads = false
    /// The names that its query may have.
    var parameters = ["validateOnly"]

    /// Heeds none.
    static let noSwitch = Switches()
    /// Heeds a dry run.
    static let dryRun = Switches(dryRun: true)
    /// Heeds a dry run and the order's revision.
    static let revision = Switches(dryRun: true, ifMatch: true)
    /// Heeds which file is there.
    static let present = Switches(ifMatch: true)
    /// Heeds whether the file is there, and which it is.
    static let file = Switches(ifMatch: true, ifNoneMatch: true)

    /// Of a route that reads.
    static let reading = Switches(reads: true, parameters: [])
    /// Of the list of orders.
    static let listing = Switches(reads: true, parameters: MerchantAPI.filters)

    /// - Throws: the problem when the request has a switch that is not heeded here, or that can't be read.
    func check(_ request: HTTPRequest) throws {
        try Self.check(request, takes: self.parameters)
        if !self.reads, try MerchantAPI.validatesOnly(request), !self.dryRun {
            throw Problem.badRequest("This route has no dry run: nothing was done.", code: "bad-validate-only")
        }
        try Self.checkIdempotencyKey(request)
        if request.headers.contains("if-match") {
            guard self.ifMatch else { throw Self.notHeeded("If-Match is not heeded here: nothing was done.") }
            try Self.checkTags(request.headers.entityTags("if-match"))
        }
        guard !self.reads, request.headers.contains("if-none-match") else { return }
        guard self.ifNoneMatch else { throw Self.notHeeded("If-None-Match is not heeded here: nothing was done.") }
        guard ExactKey.equal(request.headers.entityTags("if-none-match"), ["*"]) else {
            throw Self.notHeeded("Of If-None-Match only * is heeded here: nothing was done.")
        }
        // No file is there and not there; which of the two was meant is not ours to guess.
        if request.headers.contains("if-match") {
            throw Self.notHeeded("If-Match and If-None-Match can't both be true: nothing was done. Send one of them.")
        }
    }

    /// Only a POST heeds a key.
    private static func checkIdempotencyKey(_ request: HTTPRequest) throws {
        let keys = request.headers.all("idempotency-key")
        guard let key = keys.first, request.method == .post else { return }
        guard keys.count == 1 else {
            throw Problem.badRequest("Idempotency-Key is there twice.", code: "bad-idempotency-key")
        }
        // Before anything else that is wrong: mended, the body would be sent with the same key.
        _ = try MerchantAPI.idempotencyKey(key)
    }

    /// Refuses an `If-Match` that holds what is no tag: no revision could ever match it, and none has changed. An empty list is
    /// one that nothing matches (RFC 9110 13.1.1).
    private static func checkTags(_ tags: [String]) throws {
        let areTags = tags.allSatisfy { tag in
            let bare = tag.beginsExactly(with: "W/") ? Substring(tag.utf8.dropFirst(2)) : Substring(tag)
            return tag.isExactly("*")
                || bare.utf8.count >= 2 && bare.beginsExactly(with: "\"") && bare.endsExactly(with: "\"")
        }
        guard areTags else {
            throw Self.notHeeded("If-Match holds no ETag as it was given, with its quotation marks: nothing was done.")
        }
    }

    /// Refuses names in the query that a route does not know, and what is there twice: a slip must not do what was not meant.
    private static func check(_ request: HTTPRequest, takes names: [String]) throws {
        var seen: Set<ExactKey> = []
        for (name, _) in request.query {
            guard name.isExactly(oneOf: names) else {
                let known = names.isEmpty ? "none" : names.joined(separator: ", ")
                throw Problem.badRequest("There is no parameter \"\(name.prefix(100))\" here; there is \(known).")
            }
            guard seen.insert(ExactKey(name)).inserted else {
                throw Problem.badRequest("The parameter \(name) is there twice.")
            }
        }
    }

    private static func notHeeded(_ detail: String) -> Problem { .badRequest(detail, code: "condition-not-heeded") }
}

extension HTTPRequest {
    /// The request's `If-Match`.
    internal var precondition: Precondition {
        let tags = self.headers.entityTags("if-match")
        if "*".isExactly(oneOf: tags) { return .exists }
        return self.headers.contains("if-match") ? .entityTags(tags) : .none
    }
}
