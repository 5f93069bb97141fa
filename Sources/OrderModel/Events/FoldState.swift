// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// What a fold knows beyond its document, so that it can go on from there: the order status as it was last stated, whether
/// a fulfillment moved after that, and the changes that wait for something to begin.
public struct FoldState: Sendable, Hashable {
    /// A change whose thing is not there.
    struct Waiting: Sendable, Hashable {
        let entry: String
        let isCorrection: Bool
        let change: Change

        static func == (left: Self, right: Self) -> Bool {
            left.entry.isExactly(right.entry) && left.isCorrection == right.isCorrection && left.change == right.change
        }

        func hash(into hasher: inout Hasher) { hasher.combine(ExactKey(entry)) }
    }

    /// A fulfillment moved, came or went later than the order status was stated.
    var moved = false
    /// The order status as stated; only kept while `moved`, when the document may show a derived one.
    var status: String?
    /// The description that goes with it.
    var statusDescription: String?
    /// The description was stated later than the newest move, so it goes with a derived status, too.
    var described = false
    /// Changes that wait, in log order.
    var waiting: [Waiting] = []

    /// More waiting changes than this are not kept beside the document: the log is folded instead.
    static let waitingLimit = 32

    /// Whether the next entry needs the whole log.
    var isTooLarge: Bool { waiting.count > Self.waitingLimit }

    /// The state of a document that was just created.
    public init() {}

    /// Whether both go on in the same way; texts are compared by their bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.moved == right.moved && left.described == right.described
            && left.status.map(ExactKey.init) == right.status.map(ExactKey.init)
            && left.statusDescription.map(ExactKey.init) == right.statusDescription.map(ExactKey.init)
            && left.waiting == right.waiting
    }

    /// Hashes some of what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(moved)
        hasher.combine(described)
        hasher.combine(statusDescription.map(ExactKey.init))
        hasher.combine(waiting)
    }

    /// The state as the store keeps it beside the document.
    public var text: String { String(decoding: json.serialized(), as: UTF8.self) }

    var json: JSONValue {
        var object = JSONObject()
        if moved {
            object["moved"] = .bool(true)
            if let status { object["status"] = .string(status) }
            if let statusDescription { object["statusDescription"] = .string(statusDescription) }
            if described { object["described"] = .bool(true) }
        }
        if isTooLarge {
            object["needsLog"] = .bool(true)
        } else if !waiting.isEmpty {
            object["waiting"] = Self.json(waiting)
        }
        return .object(object)
    }

    static func json(_ waiting: [Waiting]) -> JSONValue {
        .array(
            waiting.map { item in
                var object = JSONObject()
                object["entry"] = .string(item.entry)
                if item.isCorrection { object["correction"] = .bool(true) }
                object[item.change.subject.eventMember] = item.change.json
                return .object(object)
            }
        )
    }

    /// Reads back ``text``; nil when it is unreadable or says that the log has to be folded.
    public init?(text: String) {
        guard let json = try? JSONValue(parsing: Array(text.utf8), limits: .stored) else { return nil }
        self.init(json: json)
    }

    init?(json: JSONValue) {
        guard case .object(let object) = json, object["needsLog"] == nil else { return nil }
        moved = object["moved"]?.boolValue ?? false
        status = object["status"]?.stringValue
        statusDescription = object["statusDescription"]?.stringValue
        described = object["described"]?.boolValue ?? false
        for item in object["waiting"]?.arrayValue ?? [] {
            guard let entry = item["entry"]?.stringValue else { return nil }
            for member in ["fulfillment", "return", "payment"] {
                guard let members = item[member]?.objectValue else { continue }
                guard let change = Change(eventMember: member, members) else { return nil }
                waiting.append(
                    Waiting(entry: entry, isCorrection: item["correction"]?.boolValue ?? false, change: change)
                )
            }
        }
    }
}

/// What a log is folded onto: the document as created, or, once old entries were folded away, the document and state behind
/// the last of them.
public struct FoldBase: Sendable, Hashable {
    /// The document.
    public let document: JSONValue
    let state: FoldState

    /// A document as created.
    public init(document: JSONValue) {
        self.document = document
        self.state = FoldState()
    }

    init(document: JSONValue, state: FoldState) {
        self.document = document
        self.state = state
    }

    /// The base as the store keeps it. For a document as created it is the document itself.
    public var json: JSONValue {
        if state == FoldState() { return document }
        var object = JSONObject()
        object["document"] = document
        var kept = state
        kept.waiting = []
        object["state"] = kept.json
        if !state.waiting.isEmpty { object["waiting"] = FoldState.json(state.waiting) }
        return .object(object)
    }

    /// Reads back ``json``.
    ///
    /// - Throws: ``OrderDocumentError`` with `log`.
    public init(json: JSONValue) throws(OrderDocumentError) {
        guard json["orderIdentifier"] == nil, let document = json["document"], let stored = json["state"],
            case .object(var object) = stored
        else {
            self.init(document: json)
            return
        }
        object["waiting"] = json["waiting"]
        guard let state = FoldState(json: .object(object)) else {
            throw OrderDocumentError(.log, "A stored fold state is unreadable")
        }
        self.init(document: document, state: state)
    }
}
