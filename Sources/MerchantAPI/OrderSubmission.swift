// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore

/// What a create request carries: the order, its texts and its files, however they were sent.
internal struct OrderSubmission: Sendable {
    /// The largest JSON body or order part, in bytes.
    private static let jsonLimit = 1 << 20
    /// What a package needs beside its files and its order: manifest, signature, directory.
    private static let packageOverhead = 16_000

    /// The order as it came; not validated.
    var order: JSONValue = .null
    /// Texts by locale.
    var strings: [(locale: String, table: JSONObject)] = []
    /// Images, receipts and labels.
    var files: [OrderFile] = []
    /// What is wrong with texts and files.
    var findings: [Finding] = []
    /// The digest of everything that was sent, the same for the same request however its JSON was written. Worked out when
    /// asked for: only requests with an idempotency key need it.
    private(set) var fingerprint: @Sendable () -> SHA256Digest = { SHA256.hash([UInt8]()) }

    /// Takes a request apart.
    ///
    /// - Throws: the problem when the body is neither of the two forms.
    init(_ request: HTTPRequest) throws {
        let type = request.headers["content-type"] ?? "application/json"
        if type.beginsCaseless(with: "multipart/form-data") {
            try self.read(multipart: request.body, contentType: type)
        } else {
            guard request.body.count <= Self.jsonLimit else { throw Problem.contentTooLarge(limit: Self.jsonLimit) }
            try self.read(json: try MerchantAPI.json(of: request))
        }
    }

    private mutating func read(json value: JSONValue) throws {
        guard case .object(let body) = value, let order = body["order"] else {
            throw Problem.faulty([
                Finding(
                    severity: .error,
                    code: "missing-member",
                    pointer: JSONPointer(tokens: ["order"]),
                    message: "The body must be an object with the member \"order\".",
                    fix: "Send {\"order\": {…}}; the order itself is not the body."
                )
            ])
        }
        self.findings += [Finding].unknownMembers(
            of: body,
            known: ["order", "localizations"],
            fix: "Send \"order\" and, if any, \"localizations\"."
        )
        self.order = order
        if let localizations = body["localizations"] { self.read(localizations: localizations) }
        self.fingerprint = { SHA256.hash(value.serialized(.canonical)) }
    }

    private mutating func read(localizations value: JSONValue) {
        let root = JSONPointer(tokens: ["localizations"])
        guard case .object(let locales) = value else {
            self.findings.append(
                Finding(
                    severity: .error,
                    code: "wrong-type",
                    pointer: root,
                    message: "localizations must be an object.",
                    fix: "Send {\"en\": {\"KEY\": \"text\"}}."
                )
            )
            return
        }
        for (locale, table) in locales {
            let pointer = root.appending(locale)
            do { _ = try LocaleIdentifier(locale) } catch {
                self.findings.append(
                    Finding(
                        severity: .error,
                        code: "bad-locale",
                        pointer: pointer,
                        message: error.message + ".",
                        fix: error.fix
                    )
                )
                continue
            }
            guard case .object(let texts) = table else {
                self.findings.append(
                    Finding(
                        severity: .error,
                        code: "wrong-type",
                        pointer: pointer,
                        message: "A localization is an object.",
                        fix: "Send {\"KEY\": \"text\"}."
                    )
                )
                continue
            }
            for (name, text) in texts where text.stringValue == nil {
                self.findings.append(
                    Finding(
                        severity: .error,
                        code: "wrong-type",
                        pointer: pointer.appending(name),
                        message: "A text is a string.",
                        fix: "Send {\"KEY\": \"text\"}; a number goes into quotation marks, too."
                    )
                )
            }
            self.strings.append((locale, texts))
        }
    }

    private mutating func read(multipart bytes: [UInt8], contentType: String) throws {
        let parts: [MultipartForm.Part]
        do { parts = try MultipartForm.parse(bytes, contentType: contentType) } catch {
            throw Problem.badRequest(error.message, code: "malformed-multipart")
        }
        guard let order = parts.first(where: { $0.name.isExactly("order") }) else {
            throw Problem.faulty([
                Finding(
                    severity: .error,
                    code: "missing-part",
                    path: "order",
                    message: "There is no part named order.",
                    fix: "Send the order as JSON in the part \"order\"."
                )
            ])
        }
        guard order.contents.count <= Self.jsonLimit else { throw Problem.contentTooLarge(limit: Self.jsonLimit) }
        let value = try MerchantAPI.json(order.contents)
        if let wrapper = OrderDocument.wrapperFinding(value) {
            throw Problem.faulty([wrapper.nested(under: JSONPointer(tokens: ["order"]))])
        }
        self.order = value
        var seen: Set<ExactKey> = []
        for part in parts {
            guard seen.insert(ExactKey(part.name)).inserted else {
                self.complain(part.name, "duplicate-file", "Two parts have this name.", "Send each file once.")
                continue
            }
            if !part.name.isExactly("order") { self.read(part) }
        }
        let size = parts.reduce(Self.packageOverhead) { $0 + $1.contents.count }
        if size >= UploadedFile.sizeLimit, !self.findings.contains(where: { $0.code == "file-too-large" }) {
            self.complain(
                "order",
                "package-too-large",
                "The order and its files have \(size) bytes; a package stays below \(UploadedFile.sizeLimit).",
                "Send smaller images; Wallet shows them at 300 by 300 pixels."
            )
        }
        self.fingerprint = {
            var digests = parts.map { part in
                let contents = part.name.isExactly("order") ? value.serialized(.canonical) : part.contents
                return Array(part.name.utf8) + [0] + SHA256.hash(contents).bytes
            }
            digests.sort { $0.lexicographicallyPrecedes($1) }
            return SHA256.hash(digests)
        }
    }

    private mutating func read(_ part: MultipartForm.Part) {
        let path: PackagePath
        do { path = try PackagePath(part.name) } catch {
            self.complain(part.name, "bad-path", error.message + ".", error.fix)
            return
        }
        if path.name == "order.strings", let locale = path.locale {
            do throws(StringsError) {
                let table = try StringsTable.parse(part.contents)
                self.findings += table.repeated.map { Finding(strings: $0, path: part.name) }
                self.strings.append((locale.text, table.json.objectValue ?? JSONObject()))
            } catch {
                self.findings.append(Finding(strings: error, path: part.name))
            }
            return
        }
        switch UploadedFile.check(path, part.contents) {
        case .success(let file): self.files.append(file)
        case .failure(let failure): self.findings.append(failure.finding)
        }
    }

    private mutating func complain(_ path: String, _ code: String, _ message: String, _ fix: String) {
        self.findings.append(
            Finding(severity: .error, code: code, path: path, message: message, fix: fix)
        )
    }
}
