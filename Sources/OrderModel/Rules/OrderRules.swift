// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Rules of an order that no single field can tell: they run on what can be read, also when the walk found faults.
///
/// What Wallet would refuse is an error, what most likely isn't meant a warning, what Apple's Human Interface Guidelines
/// advise a note. A place where the walk found an error gets no second finding.
struct OrderRules {
    let order: JSONObject
    let options: ValidationOptions
    private var bounded: BoundedFindings
    /// What the walk found, and what the rules add to it.
    var findings: [Finding] { bounded.list }
    /// Places that have an error already.
    private let faulty: Set<JSONPointer>

    init(_ order: JSONObject, options: ValidationOptions, walked: BoundedFindings) {
        self.order = order
        self.options = options
        bounded = walked
        faulty = Set(walked.list.lazy.filter(\.isError).compactMap(\.pointer))
    }

    mutating func check() {
        checkIdentifiers()
        checkWebService()
        checkOrderDates()
        checkOrderStatus()
        checkFulfillments()
        checkReturns()
        checkReturnInfo()
        checkItems()
        checkBarcodes()
        checkMoney()
        checkTarget()
    }

    /// Nothing is worded that isn't listed: a document can repeat one fault ten thousand times.
    mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ place: @autoclosure () -> [String],
        _ message: @autoclosure () -> String,
        fix: @autoclosure () -> String
    ) {
        guard bounded.hasRoom(for: severity) else { return }
        let tokens = place()
        if !faulty.isEmpty, isFaulty(tokens) { return }
        bounded.append(
            Finding(
                severity: severity,
                code: code,
                pointer: JSONPointer(tokens: tokens),
                message: message(),
                fix: fix()
            )
        )
    }

    /// Whether an error was found at a place or around it.
    func isFaulty(_ tokens: [String]) -> Bool {
        (0...tokens.count).contains { faulty.contains(JSONPointer(tokens: Array(tokens.prefix($0)))) }
    }

    // MARK: What rules read

    /// The objects of a list of the order with their places; whatever else stands there is passed over.
    func objects(_ list: String) -> [(place: [String], object: JSONObject)] {
        (order[list]?.arrayValue ?? []).enumerated().compactMap { index, element in
            element.objectValue.map { ([list, String(index)], $0) }
        }
    }

    func date(_ value: JSONValue?) -> OrderDate? {
        value?.stringValue.flatMap { try? OrderDate(parsing: $0) }
    }

    // MARK: The system

    private mutating func checkTarget() {
        guard let target = options.target, target < .ios17, order["schemaVersion"]?.int64Value == 2 else { return }
        add(
            .error,
            "newer-than-target",
            ["schemaVersion"],
            "iOS \(target.rawValue) does not read schemaVersion 2.",
            fix: "Send 1, and payment.status with it."
        )
    }
}
