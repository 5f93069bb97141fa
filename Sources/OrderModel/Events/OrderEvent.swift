// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// One change that a fulfilment, carrier, store or returns system reports:
/// `{"eventIdentifier","occurredAt","fulfillment"|"return"|"payment"|"order":{…identity and changed fields…}}`,
/// optionally `"correction": true`.
///
/// An event is judged by itself, without the order: whether it fits is decided when the log is folded.
public struct OrderEvent: Sendable, Hashable {
    /// The sender's name of the event. The same name again is the same event.
    public let eventIdentifier: EventIdentifier
    /// When it happened, if the sender says so.
    public let occurredAt: OrderDate?
    /// What changed.
    public let change: Change
    /// Whether it may take a final status back.
    public let isCorrection: Bool
    /// The order type, when the event names it (in bulk it has to).
    public let orderTypeIdentifier: String?
    /// The order, when the event names it (in bulk it has to).
    public let orderIdentifier: String?
    /// The event as it was sent.
    public let json: JSONValue

    /// How far an event may be ahead of the clock, in microseconds.
    public static let allowedAhead: Int64 = 600 * 1_000_000

    /// Checks an event and takes it apart.
    ///
    /// - Parameters:
    ///   - json: the event.
    ///   - now: the clock in microseconds since 1970, to refuse events from the future; nil skips that.
    ///   - options: how members are judged; events go through a service, so files are named as there.
    /// - Returns: the event, or nil if and only if a finding is an error; pointers begin at the event.
    public static func parse(
        _ json: JSONValue,
        now: Int64? = nil,
        options: ValidationOptions = .init(isServiceFilled: true)
    ) -> (event: OrderEvent?, findings: [Finding]) {
        var reader = EventReader(options: options)
        let event = reader.read(json, now: now)
        return (reader.findings.contains(where: \.isError) ? nil : event, reader.findings)
    }

    /// Whether both were sent the same.
    public static func == (left: Self, right: Self) -> Bool { left.json == right.json }

    /// Hashes what was sent.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    init(
        eventIdentifier: EventIdentifier,
        occurredAt: OrderDate?,
        change: Change,
        isCorrection: Bool,
        orderTypeIdentifier: String?,
        orderIdentifier: String?,
        json: JSONValue
    ) {
        self.eventIdentifier = eventIdentifier
        self.occurredAt = occurredAt
        self.change = change
        self.isCorrection = isCorrection
        self.orderTypeIdentifier = orderTypeIdentifier
        self.orderIdentifier = orderIdentifier
        self.json = json
    }
}
