// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Applies log entries to a document one after the other, in log order.
///
/// Whatever an entry does depends on the entries before it alone, so a fold may stop anywhere and go on from document and
/// state later.
struct FoldMachine {
    /// A thing that can't begin by itself is begun with some of so many that wait for it; with more of them, only with all.
    private static let tried = 64

    private let options: FoldOptions
    /// The document with the order status as stated, not as derived, and with the lists that it began with.
    private var order: JSONObject
    private var fulfillments: ThingList
    private var returns: ThingList
    /// Without what waits, which is in `waiting`.
    private var state: FoldState
    private var waiting: WaitingChanges
    /// What became of entries that had waited, since it was last taken.
    private var settled = Verdicts()
    /// Why the entry that was applied last could not be, if so: pointers begin at the event.
    private(set) var complaints: [Finding] = []
    /// Who had the last word on what; nil when nobody asks.
    private var words: LastWords?

    /// What became of one change of an entry.
    private enum Outcome: Equatable {
        case changed
        case unchanged
        case held
        case skipped(Verdict)
    }

    init(document: JSONValue, state: FoldState, options: FoldOptions, tracksWords: Bool = false) {
        var order = document.objectValue ?? JSONObject()
        if state.moved {
            order["status"] = state.status.map { .string($0) }
            order["statusDescription"] = state.statusDescription.map { .string($0) }
        }
        self.order = order
        self.fulfillments = ThingList(order["fulfillments"], by: "fulfillmentIdentifier")
        self.returns = ThingList(order["returns"], by: "returnIdentifier")
        self.state = state
        self.state.waiting = []
        self.waiting = WaitingChanges(state.waiting)
        self.options = options
        self.words = tracksWords ? LastWords() : nil
    }

    /// Whether a fold that goes on from here comes to the same as one that goes on from there, to the digit: packages show
    /// numbers as they were sent.
    func isSame(as other: Self) -> Bool {
        state == other.state && waiting.isSame(as: other.waiting) && fulfillments.isSame(as: other.fulfillments)
            && returns.isSame(as: other.returns) && order.isSpelled(as: other.order)
    }

    // MARK: The document

    /// The document as it is shown, with the order status derived if that is asked for.
    var document: JSONValue {
        var shown = order
        for (name, list) in [("fulfillments", fulfillments), ("returns", returns)] where list.isChanged {
            let values = list.values
            if values.isEmpty { shown.remove(name) } else { shown[name] = .array(values) }
        }
        guard let status = derivedStatus(shown), order["status"] != .string(status) else { return .object(shown) }
        shown["status"] = .string(status)
        if !state.described { shown.remove("statusDescription") }
        return .object(shown)
    }

    /// The state to keep beside the document.
    var finalState: FoldState {
        var copy = state
        copy.status = copy.moved ? order["status"]?.stringValue : nil
        copy.statusDescription = copy.moved ? order["statusDescription"]?.stringValue : nil
        copy.described = copy.moved && copy.described
        copy.waiting = waiting.all
        return copy
    }

    /// What the fulfillments make of the order, as long as nobody stated a status after they moved. A stated `cancelled`
    /// stays.
    private func derivedStatus(_ shown: JSONObject) -> String? {
        guard options.completeWhenFulfilled, state.moved,
            shown["status"] != .string(OrderStatus.cancelled.rawValue),
            let fulfillments = shown["fulfillments"]?.arrayValue, !fulfillments.isEmpty
        else { return nil }
        let statuses = fulfillments.map { $0["status"]?.stringValue.flatMap(FulfillmentStatus.init(exactly:)) }
        guard statuses.allSatisfy({ $0?.isFinal == true }) else { return OrderStatus.open.rawValue }
        return (statuses.allSatisfy { $0 == .cancelled } ? OrderStatus.cancelled : OrderStatus.completed).rawValue
    }

    // MARK: Entries

    /// Applies an entry and says what became of it.
    mutating func apply(_ entry: LogEntry) -> Verdict {
        var outcomes: [Outcome] = []
        complaints = []
        for change in entry.changes {
            let isCorrection = entry.isCorrection && !change.isAddition
            outcomes.append(apply(change, entry: entry.identifier, isCorrection: isCorrection))
        }
        if let sequence = entry.fulfillmentOrder {
            outcomes.append(fulfillments.arrange(sequence) ? .changed : .unchanged)
            if outcomes.last == .changed { words?.noteSequence(entry.identifier, of: "fulfillments") }
        }
        if let sequence = entry.returnOrder {
            outcomes.append(returns.arrange(sequence) ? .changed : .unchanged)
            if outcomes.last == .changed { words?.noteSequence(entry.identifier, of: "returns") }
        }
        // What one change of an entry settled of another is in its own verdict.
        if !settled.isEmpty { settled[entry.identifier] = nil }
        return Self.verdict(of: outcomes)
    }

    /// Applies entries and says what is left of each in the end.
    mutating func presentVerdicts(_ entries: [LogEntry]) -> Verdicts {
        var verdicts = Verdicts()
        for entry in entries {
            let verdict = apply(entry)
            verdicts.merge(takeSettled())
            verdicts[entry.identifier] = verdict
        }
        let shown = document
        for name in ["status", "statusDescription"] where shown[name] != order[name] { words?.coverOrder(name) }
        return words?.present(verdicts) ?? verdicts
    }

    /// What waits for a thing, in log order.
    func waiting(for subject: Change.Subject) -> [FoldState.Waiting] { waiting.changes(of: subject) }

    /// Takes what became of entries that had waited.
    mutating func takeSettled() -> Verdicts {
        if settled.isEmpty { return settled }
        defer { settled = Verdicts() }
        return settled
    }

    private static func verdict(of outcomes: [Outcome]) -> Verdict {
        if outcomes.contains(.changed) { return .applied }
        for outcome in outcomes { if case .skipped(let verdict) = outcome { return verdict } }
        return outcomes.contains(.held) ? .final : .same
    }

    private mutating func apply(_ change: Change, entry: String, isCorrection: Bool) -> Outcome {
        switch change.subject {
        case .order: return applyToOrder(change, entry: entry, isCorrection: isCorrection)
        case .payment, .fulfillment, .return: break
        }
        guard let members = change.members else {
            let outcome = remove(change.subject)
            if outcome == .changed { words?.noteThing(entry, change.subject) }
            return outcome
        }
        guard let present = thing(change.subject) else {
            return begin(FoldState.Waiting(entry: entry, isCorrection: isCorrection, change: change.ofWhatIsThere))
        }
        if let type = members["fulfillmentType"], type != present["fulfillmentType"] {
            complaints.append(.typeMismatch(change.subject, present["fulfillmentType"]))
            return .skipped(.typeMismatch)
        }
        var merge = MemberMerge(change.subject, onto: present)
        merge.apply(members, isCorrection: isCorrection)
        if merge.object == present { return merge.wasHeld ? .held : .unchanged }
        guard isValid(merge.object, change.subject) else { return .skipped(.invalidHere) }
        put(merge.object, change.subject)
        if case .fulfillment = change.subject, merge.statusMoved { noteMove() }
        note(entry, change, from: present, merge)
        return .changed
    }

    private mutating func applyToOrder(_ change: Change, entry: String, isCorrection: Bool) -> Outcome {
        guard let members = change.members else { return .unchanged }
        var merge = MemberMerge(.order, onto: order)
        merge.apply(members, isCorrection: isCorrection)
        if members["schemaVersion"] != nil, let payment = order["payment"]?.objectValue,
            !isValid(payment, .payment, version: merge.object["schemaVersion"])
        {
            return .skipped(.invalidHere)
        }
        let before = document
        note(entry, change, from: order, merge)
        order = merge.object
        if members["status"] != nil, !merge.wasHeld {
            state.moved = false
            state.described = false
        } else if members["statusDescription"] != nil, !merge.wasHeld {
            state.described = true
        }
        // A status stated again above a derived one changes what is shown, not what is stated.
        let after = document
        guard after != before else { return merge.wasHeld ? .held : .unchanged }
        if members["status"] != nil, !merge.wasHeld, after["status"] != before["status"] {
            words?.noteOrderStatus(entry)
        }
        return .changed
    }

    /// Begins a thing that is not there, together with what waited for it and fits.
    private mutating func begin(_ piece: FoldState.Waiting) -> Outcome {
        let subject = piece.change.subject
        let type = piece.change.members?["fulfillmentType"] ?? waiting.type(of: subject)
        if subject.listName != "fulfillments" || type != nil, let (object, used) = beginning(piece, type: type) {
            settleWaiting(waiting.changes(of: subject), used: used, type: type)
            complaints = []
            put(object, subject)
            noteBeginning(used, piece)
            if case .fulfillment = subject { noteMove() }
            return .changed
        }
        waiting.append(piece)
        let founds = subject.foundingMember.map { name in
            piece.change.members?[name] != nil || name == "fulfillmentType" && type != nil
        }
        return .skipped(founds == true ? .invalidHere : .waiting)
    }

    /// What a change makes of a thing that is not there: with all that waited for it if that is valid, else with each of them, in
    /// log order, that adds no fault to what the change and those before it make.
    ///
    /// - Returns: the thing, and what waited and is in it; nil when it can't begin.
    private mutating func beginning(
        _ piece: FoldState.Waiting,
        type: JSONValue?
    ) -> (object: JSONObject, used: [FoldState.Waiting])? {
        let subject = piece.change.subject
        var fitting = waiting.changes(of: subject)
        if type != nil {
            fitting = fitting.filter { item in item.change.members?["fulfillmentType"].map { $0 == type } ?? true }
        }
        var bare = JSONObject()
        if case .fulfillment = subject { bare["fulfillmentType"] = type }
        for (name, value) in subject.bareObject { bare[name] = value }
        var kept = MemberMerge(subject, onto: bare)
        var faultsOfAll: [Finding] = []
        if !fitting.isEmpty {
            var all = kept
            if type == nil, let merge = waiting.merge(of: subject) {
                all = merge
            } else {
                for item in fitting { all.apply(item) }
            }
            all.apply(piece)
            faultsOfAll = self.faults(all.object, subject)
            if faultsOfAll.isEmpty { return (all.object, fitting) }
        }
        var whole = kept
        whole.apply(piece)
        let own = self.faults(whole.object, subject)
        // One that can begin by itself does, and nothing waits for it any more. One that lacks something that all of them do not
        // supply can't begin; others are tried at each change.
        if own.isEmpty || fitting.count <= Self.tried && !own.contains(where: { $0.isAmong(faultsOfAll) }) {
            var faults = own
            var used: [FoldState.Waiting] = []
            for item in fitting {
                var with = kept
                with.apply(item)
                var more = with
                more.apply(piece)
                let others = self.faults(more.object, subject)
                guard others.allSatisfy({ $0.isAmong(faults) }) else { continue }
                used.append(item)
                (kept, whole, faults) = (with, more, others)
            }
            if faults.isEmpty { return (whole.object, used) }
        }
        complain(own, subject)
        return nil
    }

    /// Notes who has the last word on what of a thing that begins.
    private mutating func noteBeginning(_ waited: [FoldState.Waiting], _ piece: FoldState.Waiting) {
        guard words != nil else { return }
        let subject = piece.change.subject
        words?.noteThing(piece.entry, subject)
        var object = JSONObject()
        for item in waited + [piece] {
            var merge = MemberMerge(subject, onto: object)
            merge.apply(item.change.members ?? JSONObject(), isCorrection: item.isCorrection)
            note(item.entry, item.change, from: object, merge)
            object = merge.object
        }
    }

    private mutating func note(_ entry: String, _ change: Change, from before: JSONObject, _ merge: MemberMerge) {
        guard words != nil else { return }
        words?.note(entry, change, from: before, to: merge.object)
        if merge.wasHeld { words?.noteHeld(entry) }
    }

    /// Closes the wait for a thing that has begun: nothing that comes later makes those fit that did not.
    private mutating func settleWaiting(_ waited: [FoldState.Waiting], used: [FoldState.Waiting], type: JSONValue?) {
        guard let subject = waited.first?.change.subject else { return }
        let usedEntries = Set(exactly: used.map(\.entry))
        for item in waited {
            let stated = item.change.members?["fulfillmentType"]
            settled[item.entry] =
                usedEntries.contains(ExactKey(item.entry))
                ? .applied : stated != nil && stated != type ? .typeMismatch : .invalidHere
        }
        waiting.removeAll(of: subject)
    }

    private mutating func noteMove() {
        state.moved = true
        state.described = false
    }

    // MARK: Things

    private mutating func thing(_ subject: Change.Subject) -> JSONObject? {
        switch subject {
        case .order: order
        case .payment: order["payment"]?.objectValue
        case .fulfillment(let identifier): fulfillments.thing(identifier)
        case .return(let identifier): returns.thing(identifier)
        }
    }

    private mutating func put(_ object: JSONObject, _ subject: Change.Subject) {
        switch subject {
        case .order: order = object
        case .payment: order["payment"] = .object(object)
        case .fulfillment(let identifier): fulfillments.put(object, identifier)
        case .return(let identifier): returns.put(object, identifier)
        }
    }

    private mutating func remove(_ subject: Change.Subject) -> Outcome {
        // What waited for the thing waited for one before its removal.
        waiting.removeAll(of: subject)
        switch subject {
        case .order: return .unchanged
        case .payment: return order.remove("payment") == nil ? .unchanged : .changed
        case .return(let identifier): return returns.remove(identifier) ? .changed : .unchanged
        case .fulfillment(let identifier):
            guard fulfillments.remove(identifier) else { return .unchanged }
            noteMove()
            return .changed
        }
    }

    private mutating func isValid(_ object: JSONObject, _ subject: Change.Subject, version: JSONValue? = nil) -> Bool {
        let faults = self.faults(object, subject, version: version)
        if faults.isEmpty { return true }
        complain(faults, subject)
        return false
    }

    private func faults(_ object: JSONObject, _ subject: Change.Subject, version: JSONValue? = nil) -> [Finding] {
        var walk = DocumentWalk(options: options.validation)
        walk.schemaVersion = (version ?? order["schemaVersion"])?.int64Value == 2 ? 2 : 1
        switch subject {
        case .order: return []
        case .payment: walk.check(object: object, as: .payment)
        case .fulfillment: walk.check(.object(object), .fulfillment)
        case .return: walk.check(object: object, as: .return)
        }
        return walk.findings.filter(\.isError)
    }

    private mutating func complain(_ faults: [Finding], _ subject: Change.Subject) {
        complaints = faults.map { $0.nested(under: JSONPointer(tokens: [subject.eventMember])) }
    }
}

extension Finding {
    /// Whether the same fault is at the same place among others.
    fileprivate func isAmong(_ others: [Finding]) -> Bool {
        others.contains { code.isExactly($0.code) && location == $0.location }
    }

    /// An event names another type than the fulfillment has.
    fileprivate static func typeMismatch(_ subject: Change.Subject, _ present: JSONValue?) -> Finding {
        Finding(
            severity: .error,
            code: "type-mismatch",
            pointer: JSONPointer(tokens: [subject.eventMember, "fulfillmentType"]),
            message: "The order has this fulfillment as \"\(DocumentWalk.shown(present?.stringValue ?? ""))\".",
            fix: "Leave fulfillmentType out, or give the other fulfillment an identifier of its own."
        )
    }
}
