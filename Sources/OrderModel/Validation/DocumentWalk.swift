// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Goes through a document along the tables of Apple's objects and notes every fault at its own pointer.
///
/// It never stops at a fault: what can be read is checked.
struct DocumentWalk {
    let options: ValidationOptions
    /// The document's version, which decides whether `payment.status` is required.
    var schemaVersion = 1
    private(set) var bounded = BoundedFindings()
    var findings: [Finding] { bounded.list }
    /// Where the walk is. A pointer is made of it only when there is something to say.
    private var place: [String]
    /// The object that the walk began with.
    private var root: JSONObject?
    /// The currencies of the whole document, once they were asked for.
    private var currencies: [String]?

    init(options: ValidationOptions, at place: JSONPointer = .root) {
        self.options = options
        self.place = place.tokens
    }

    /// Whether anything makes the document invalid.
    var hasErrors: Bool { findings.contains { $0.isError } }

    // MARK: Objects

    /// Members that a service fills in, and that may therefore be missing.
    private static let serviceMembers: Set<String> = [
        "schemaVersion", "updatedAt", "webServiceURL", "authenticationToken",
    ]

    /// Checks all members of `object`.
    ///
    /// - Parameter isPartial: the object holds changes only: nothing has to be there, and null removes what need not be.
    mutating func check(object: JSONObject, as description: ObjectDescription, isPartial: Bool = false) {
        if root == nil { root = object }
        var seen: UInt64 = 0
        for (name, value) in object {
            place.append(name)
            if let position = description.position(of: name) {
                let field = description.fields[position]
                if value.isNull {
                    checkNull(field, isPartial: isPartial, seen: &seen, position: position)
                } else {
                    seen |= 1 << UInt64(position)
                    checkRelease(of: field, in: description)
                    check(value, field.kind)
                    checkEmptiness(of: value, field)
                    if bounded.hasRoom(for: .note), let fault = TextLimit.fault(value, field) {
                        add(.note, "text-too-long", fault.message, fix: fault.fix)
                    }
                }
            } else {
                noteUnknown(name, in: description)
            }
            place.removeLast()
        }
        if isPartial { return }
        let missing = description.requiredFields(inVersion: schemaVersion) & ~seen
        // A text can hold hundreds of thousands of empty objects.
        if missing == 0 || !bounded.hasRoom(for: .error) { return }
        for (position, field) in description.fields.enumerated() where missing & (1 << UInt64(position)) != 0 {
            if options.isServiceFilled, description === ObjectDescription.order,
                Self.serviceMembers.contains(field.name)
            {
                continue
            }
            place.append(field.name)
            add(
                .error,
                "missing-member",
                object[field.name] == nil
                    ? "\(description.name) needs \"\(field.name)\""
                    : "\"\(field.name)\" is null, but \(description.name) needs it",
                fix: object[field.name] == nil ? "Add \(field.kind.advice)." : "Write \(field.kind.advice)."
            )
            place.removeLast()
        }
    }

    private mutating func checkNull(
        _ field: FieldDescription,
        isPartial: Bool,
        seen: inout UInt64,
        position: Int
    ) {
        if isPartial {
            // What one version needs and another doesn't is for the whole order to say.
            if field.presence == .required {
                add(
                    .error,
                    "required-member-removed",
                    "null would remove \"\(field.name)\", which has to be there",
                    fix: "Send \(field.kind.advice), or leave the member out to keep it."
                )
            }
        } else if !field.isRequired(inVersion: schemaVersion) {
            add(
                .warning,
                "null-member",
                "\"\(field.name)\" is null; it is taken as absent and not written into the package",
                fix: "Leave the member out."
            )
        }
    }

    /// Says that a heading that has to be there has nothing in it.
    private mutating func checkEmptiness(of value: JSONValue, _ field: FieldDescription) {
        // Nearly every text begins with a letter.
        guard field.presence == .required, field.textLimit != nil, bounded.hasRoom(for: .warning),
            case .string(let text) = value, text.utf8.first.map({ !(0x21..<0x7F).contains($0) }) ?? true,
            text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        else { return }
        add(
            .warning,
            "empty-text",
            "\"\(field.name)\" has nothing in it, but customers are shown it",
            fix: "Write \(field.kind.advice) that says what it is."
        )
    }

    private mutating func checkRelease(of field: FieldDescription, in description: ObjectDescription) {
        guard let target = options.target, field.since > target, field.since > description.since else { return }
        add(
            .note,
            "newer-than-target",
            "\"\(field.name)\" is known from iOS \(field.since.rawValue); iOS \(target.rawValue) ignores it",
            fix: "Keep it if older devices can do without."
        )
    }

    private mutating func noteUnknown(_ name: String, in description: ObjectDescription) {
        let severity: Finding.Severity
        switch options.unknownMembers {
        case .refuse: severity = .error
        case .warn: severity = .warning
        case .accept: return
        }
        add(
            severity,
            "unknown-member",
            "\(description.name) has no member \"\(Self.shown(name))\"",
            fix: description.advice(forUnknown: name)
        )
    }

    // MARK: Values

    mutating func check(_ value: JSONValue, _ kind: FieldKind) {
        switch kind {
        case .object(let description):
            guard case .object(let object) = value else { return noteType(value, kind) }
            check(object: object, as: description)
        case .list(let element):
            guard case .array(let values) = value else { return noteType(value, kind) }
            for (index, value) in values.enumerated() {
                place.append(String(index))
                check(value, element)
                place.removeLast()
            }
        case .fulfillment:
            guard case .object(let object) = value else { return noteType(value, kind) }
            check(fulfillment: object)
        case .boolean:
            if case .bool = value { return }
            noteType(value, kind)
        case .amount: checkAmount(value)
        case .quantity: checkQuantity(value)
        case .number(let bounds): checkNumber(value, bounds)
        case .positiveInteger: checkPositiveInteger(value)
        case .schemaVersion: checkSchemaVersion(value)
        default:
            guard case .string(let text) = value else { return noteType(value, kind) }
            check(text, kind)
        }
    }

    /// A wrong type would make a fault of almost every member. Where other members are let through, none of them is one.
    private mutating func check(fulfillment object: JSONObject) {
        let stated = FulfillmentShape.type(of: object)
        guard options.unknownMembers == .refuse, let meant = FulfillmentShape.meant(by: object) else {
            return check(object: object, as: stated.object)
        }
        place.append("fulfillmentType")
        let names = object.map(\.name)
            .filter { meant.object.position(of: $0) != nil && stated.object.position(of: $0) == nil }
        add(
            .error,
            "unknown-value",
            "The type is \"\(stated.rawValue)\", but the other members are those of a \(meant.rawValue) fulfillment"
                + (names.isEmpty ? "" : ", such as \(ObjectDescription.list(Array(names.prefix(3))))"),
            fix: "Did you mean \"\(meant.rawValue)\"?"
        )
        place.removeLast()
        var corrected = object
        corrected["fulfillmentType"] = .string(meant.rawValue)
        check(object: corrected, as: meant.object)
    }

    private mutating func check(_ text: String, _ kind: FieldKind) {
        switch kind {
        case .choice(let names):
            if text.isExactly(oneOf: names) || !bounded.hasRoom(for: .error) { return }
            let list = names.map { "\"\($0)\"" }
            // As barcodes of passes have it.
            let prefix = "PKBarcodeFormat"
            let bare =
                text.beginsExactly(with: prefix) ? String(Substring(text.utf8.dropFirst(prefix.utf8.count))) : text
            let near = NearMiss.find(bare, among: names) ?? names.first { bare.isExactly($0) }
            let question = near.map { "Did you mean \"\($0)\"? " } ?? ""
            add(
                .error,
                "unknown-value",
                "\"\(Self.shown(text))\" is not one of the values Wallet knows",
                fix: question + (list.count == 1 ? "Use \(list[0])." : "Use one of \(list.joined(separator: ", ")).")
            )
        case .dateTime: checkDate(text)
        case .duration:
            if ISODuration(parsing: text) == nil {
                add(
                    .error,
                    "bad-duration",
                    "\"\(Self.shown(text))\" is no ISO 8601 duration",
                    fix: "Write whole units after a P, for instance PT30M or P1DT2H."
                )
            }
        case .url: checkLink(URLCheck(text))
        case .webServiceURL: checkWebService(URLCheck(text))
        case .token:
            do throws(IdentifierError) {
                _ = try AuthenticationToken(text)
            } catch {
                let code = error.code == .tooShort || error.code == .empty ? "token-too-short" : "bad-token"
                add(.error, code, error.message, fix: "Use a random token of 16 to 2,048 visible ASCII characters.")
            }
        case .orderType: checkIdentifier(text) { (text) throws(IdentifierError) in _ = try OrderTypeIdentifier(text) }
        case .identifier: checkOpaque(text)
        case .currency: checkCurrency(text)
        case .country: checkCountry(text)
        case .file: checkFile(text)
        default: break
        }
    }

    private mutating func checkFile(_ text: String) {
        do throws(IdentifierError) {
            // A service has to store the file under a path of its own routes. A package takes what an archive can hold.
            if options.isServiceFilled { _ = try PackagePath(text) } else { _ = try FileName(text) }
        } catch {
            // As of identifiers: characters are the schema's to count, bytes a rule's.
            let isRule =
                !options.isServiceFilled && error.code == .tooLong
                && text.unicodeScalars.count <= FileName.byteLimit
            let code = isRule ? "file-name-too-long" : "bad-file-name"
            if FileName.isDataURL(text) { return addEmbedded(code) }
            return add(.error, code, error.message, fix: error.fix)
        }
        if let own = FileName.ownFile(text) {
            return add(
                .error,
                "bad-file-name",
                "Every package has \(own) itself, which is no file to show",
                fix: "Give the file another name."
            )
        }
        if FileName.isDataURL(text) { return addEmbedded("file-embedded") }
        if let folder = text.utf8.firstIndex(of: 0x2F).map({ text[..<$0] }) {
            let isLanguage = folder.endsExactly(with: ".lproj")
            add(
                .warning,
                "file-in-folder",
                "\"\(Self.shown(text))\" names a folder; "
                    + (isLanguage
                        ? "Wallet picks the language itself"
                        : "Apple's pages have files at the top level and in localization folders only"),
                fix: isLanguage
                    ? "Name the file alone; localized variants lie in <locale>.lproj folders."
                    : "Put the file at the top level, and name it alone."
            )
        }
        if let oddity = FileName.oddity(text) { add(.warning, "unusual-file-name", oddity.message, fix: oddity.fix) }
    }

    private mutating func addEmbedded(_ code: String) {
        add(
            .error,
            code,
            "A data: URL is no file of the package, and Wallet shows no other",
            fix: "Put what it holds into the package as a file, and name that, like logo.png."
        )
    }

    private mutating func checkIdentifier(_ text: String, _ check: (String) throws(IdentifierError) -> Void) {
        do throws(IdentifierError) {
            try check(text)
        } catch {
            add(.error, "bad-identifier", error.message, fix: error.fix)
        }
    }

    private mutating func checkOpaque(_ text: String) {
        do throws(IdentifierError) {
            try IdentifierRules.checkOpaque(text, kind: "identifier")
        } catch {
            // A schema counts characters, the database's limit is one of bytes: what only the latter refuses is a rule.
            let isRule =
                error.code == .tooLong && text.unicodeScalars.count <= 255
                && !text.unicodeScalars.contains(where: IdentifierRules.isControl)
            add(.error, isRule ? "identifier-too-long" : "bad-identifier", error.message, fix: error.fix)
        }
    }

    private mutating func check(_ url: URLCheck) {
        guard url.problem != nil, bounded.hasRoom(for: .error), let advice = url.advice else { return }
        add(.error, "bad-url", advice.message, fix: advice.fix)
    }

    private mutating func checkLink(_ url: URLCheck) {
        check(url)
        guard url.problem == nil, bounded.hasRoom(for: .warning) else { return }
        if url.scheme == "http" {
            add(
                .note,
                "insecure-link",
                "The link is not https, so browsers warn and apps can't open it as a universal link",
                fix: "Start it with https:// if the site answers there."
            )
        }
        guard let fault = url.linkFault else { return }
        add(.warning, "link-scheme", fault.message, fix: fault.fix)
    }

    private mutating func checkWebService(_ url: URLCheck) {
        check(url)
        for (code, message, fix) in url.webServiceFaults { add(.error, code, message, fix: fix) }
        guard bounded.hasRoom(for: .warning) else { return }
        for (code, message, fix) in url.webServiceDoubts { add(.warning, code, message, fix: fix) }
    }

    private mutating func checkDate(_ text: String) {
        do throws(OrderDate.Fault) {
            let date = try OrderDate(parsing: text)
            func advise(_ code: String, _ message: String) { add(.warning, code, message, fix: "Send \(date.text).") }
            if date.hasFraction {
                advise(
                    "fractional-seconds",
                    "Wallet may refuse fractions of a second; the package gets whole seconds"
                )
            }
            if date.hasLowerCase {
                advise("date-in-lower-case", "Wallet may refuse a t or z in lower case; the package gets capitals")
            }
            if date.isLeapSecond {
                advise("leap-second", "Wallet may refuse a 61st second; the package gets the one behind it")
            }
        } catch {
            add(
                .error,
                error == .calendar ? "date-out-of-range" : "bad-date",
                "\"\(Self.shown(text))\" \(error.message)",
                fix: "Write it like 2026-01-31T18:00:00Z: date, T, hours, minutes, seconds, and Z or ±HH:MM."
            )
        }
    }

    private mutating func checkCurrency(_ text: String) {
        if Currency.isKnown(text) || !bounded.hasRoom(for: .error) { return }
        let used = currencies ?? root.map { Currency.codes(in: .object($0)) } ?? []
        currencies = used
        let near = Currency.suggestion(for: text, besides: used).map { "Did you mean \"\($0)\"? " } ?? ""
        add(
            .error,
            "unknown-currency",
            "\"\(Self.shown(text))\" is no currency code of ISO 4217",
            fix: near + "Use the three capital letters of the currency."
        )
    }

    private mutating func checkCountry(_ text: String) {
        if Country.isKnown(text) || !(bounded.hasRoom(for: .error) || bounded.hasRoom(for: .warning)) { return }
        let near = Country.suggestion(for: text).map { "Did you mean \"\($0)\"? " } ?? ""
        let fix = near + "Use the two capital letters of the country."
        if let year = Country.withdrawal(of: text) {
            let message = "\"\(text)\" was withdrawn from ISO 3166 in \(year)"
            return add(.warning, "withdrawn-country", message, fix: "Use the code of the country that is there now.")
        }
        let isCode = text.utf8.count == 2 && text.utf8.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) }
        add(
            isCode ? .warning : .error,
            isCode ? "unknown-country" : "bad-country",
            "\"\(Self.shown(text))\" is no country code of ISO 3166",
            fix: fix
        )
    }

    private mutating func checkAmount(_ value: JSONValue) {
        switch value {
        case .number where DecimalAmount(value) == nil:
            add(
                .error,
                "bad-number",
                "The amount has too many digits",
                fix: "Send at most \(DecimalAmount.maximumLength) digits."
            )
        case .string, .number:
            if DecimalAmount(value) == nil, bounded.hasRoom(for: .error) {
                let text = value.stringValue ?? value.numberValue?.text ?? ""
                let near =
                    value.stringValue.flatMap { DecimalAmount.suggestion(for: $0) }.map { "Did you mean \"\($0)\"? " }
                    ?? ""
                add(
                    .error,
                    "bad-amount",
                    "\"\(Self.shown(text))\" is no plain decimal number of at most 32 characters",
                    fix: near + "Write digits with '.' as separator and nothing else, for instance \"19.99\"."
                )
            }
        default: noteType(value, .amount)
        }
    }

    private mutating func checkQuantity(_ value: JSONValue) {
        switch value {
        // Apple's reference says no more than that it is a number, so zero is only most likely not meant.
        case .number(let number) where number.isZero: noteQuantity(.warning, "zero")
        case .number(let number) where number.isNegative: noteQuantity(.error, "less than zero")
        case .number, .string:
            guard let quantity = DecimalAmount(value) else {
                if case .string = value { return noteType(value, .quantity) }
                return add(
                    .error,
                    "bad-number",
                    "The quantity has too many digits",
                    fix: "Send \(FieldKind.quantity.advice)."
                )
            }
            if case .string = value {
                add(
                    .warning,
                    "numeric-string",
                    "The quantity is a text; the package gets it as a number",
                    fix: "Send \(quantity) without quotes."
                )
            }
            if value.stringValue?.utf8.first == 0x2D {
                noteQuantity(.error, "less than zero")
            } else if quantity == .zero {
                noteQuantity(.warning, "zero")
            }
        default: noteType(value, .quantity)
        }
    }

    private mutating func noteQuantity(_ severity: Finding.Severity, _ what: String) {
        add(
            severity,
            "number-out-of-range",
            "The quantity is \(what)",
            fix: "Send the number of items bought, or leave the item out."
        )
    }

    private mutating func checkNumber(_ value: JSONValue, _ bounds: ClosedRange<Int>?) {
        guard case .number(let number) = value else { return noteType(value, .number(bounds)) }
        guard let bounds else { return }
        if number < JSONNumber(Int64(bounds.lowerBound)) || number > JSONNumber(Int64(bounds.upperBound)) {
            add(
                .error,
                "number-out-of-range",
                "\(Self.shown(number.text)) is out of range",
                fix: "Send a number from \(bounds.lowerBound) to \(bounds.upperBound)."
            )
        }
    }

    private mutating func checkPositiveInteger(_ value: JSONValue) {
        guard case .number(let number) = value else { return noteType(value, .positiveInteger) }
        guard let integer = number.int64Value, integer > 0 else {
            return add(
                .error,
                "number-out-of-range",
                "\(Self.shown(number.text)) is no whole number above zero",
                fix: "Send \(FieldKind.positiveInteger.advice)."
            )
        }
    }

    private mutating func checkSchemaVersion(_ value: JSONValue) {
        guard case .number(let number) = value else { return noteType(value, .schemaVersion) }
        switch number.int64Value {
        case 1: return
        // A target that doesn't read it makes it an error, which a rule tells.
        case 2 where options.target.map { $0 < .ios17 } ?? false: return
        case 2:
            add(
                .note,
                "schema-version-2",
                "Only iOS 17 and later read version 2; it allows payment without status",
                fix: "Send 1 and payment.status to reach every device."
            )
        default:
            add(
                .error,
                "unknown-value",
                "\(Self.shown(number.text)) is no schema version that Wallet knows",
                fix: "Send 1."
            )
        }
    }

    // MARK: Words

    private mutating func noteType(_ value: JSONValue, _ kind: FieldKind) {
        guard bounded.hasRoom(for: .error) else { return }
        var fix = "Send \(kind.advice)."
        if case .dateTime = kind, case .number = value {
            fix = "Send a text like 2026-01-31T18:00:00Z; a number of seconds is not understood."
        }
        add(
            .error,
            "wrong-type",
            "Expected \(kind.typeName), found \(value.typePhrase)",
            fix: fix
        )
    }

    mutating func add(
        _ severity: Finding.Severity,
        _ code: String,
        _ message: @autoclosure () -> String,
        fix: @autoclosure () -> String
    ) {
        guard bounded.hasRoom(for: severity) else { return }
        bounded.append(
            Finding(
                severity: severity,
                code: code,
                pointer: JSONPointer(tokens: place),
                message: message() + ".",
                fix: fix()
            )
        )
    }

    /// A text cut to what fits into a message, without control characters.
    static func shown(_ text: String) -> String {
        var output = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            if count == 60 { return output + "…" }
            output.unicodeScalars.append(IdentifierRules.isControl(scalar) ? "\u{FFFD}" : scalar)
        }
        return output
    }
}
