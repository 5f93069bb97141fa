// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ZipFiles

/// Holds the manifest against the files.
struct ManifestCheck {
    private(set) var list = FindingList()
    private let archive: ArchiveCheck

    /// Far more than the files that an archive may hold.
    private static let limits = JSONLimits(bytes: 1 << 20, depth: 8, values: 4_096)
    /// A package's own paths have two parts; a prefix adds some.
    private static let partLimit = 16
    private static let withSHA256 = "Write the SHA-256 in 64 lower-case hexadecimal digits."

    init(_ archive: ArchiveCheck) {
        self.archive = archive
        guard archive.has(Manifest.path) else {
            list.error(
                "manifest-missing",
                Manifest.path,
                "The package has no manifest.json.",
                fix: "List every file with its SHA-256 in manifest.json, and sign that file."
            )
            return
        }
        guard let bytes = archive.contents(Manifest.path), let object = read(bytes) else { return }
        if let finding = FinishedOrder.markFinding(Manifest.path, bytes) { list.append(finding) }
        var listed: Set<ExactKey> = [ExactKey(Manifest.path), ExactKey(SignatureCheck.path)]
        for (path, value) in object {
            listed.insert(ExactKey(path))
            check(path, value)
        }
        for path in archive.paths.subtracting(listed).sorted() {
            list.error(
                "manifest-entry-missing",
                path.text,
                "The file is in the package but not in the manifest.",
                fix: "List it, with its path from the package's top level, or leave it out."
            )
        }
    }

    private mutating func read(_ bytes: [UInt8]) -> JSONObject? {
        guard !bytes.isEmpty else { return nil }
        do throws(JSONSyntaxError) {
            guard let object = try JSONValue(parsing: bytes, limits: Self.limits).objectValue else {
                list.error(
                    "manifest-form",
                    Manifest.path,
                    "The manifest is no JSON object.",
                    fix: "Write one object of paths and digests."
                )
                return nil
            }
            return object
        } catch {
            let isTooLarge = error.code == .limit
            list.append(
                Finding(
                    severity: .error,
                    code: isTooLarge ? "manifest-too-large" : "manifest-syntax",
                    path: Manifest.path,
                    message: isTooLarge ? error.message : "The manifest is not JSON: \(error.message)",
                    fix: isTooLarge
                        ? "Write one object that lists the package's files, and nothing else."
                        : "Write strict JSON: no comma before a closing brace, no comments.",
                    line: error.line,
                    column: error.column
                )
            )
            return nil
        }
    }

    private mutating func check(_ path: String, _ value: JSONValue) {
        guard let text = value.stringValue else {
            list.error(
                "manifest-form",
                path,
                "The manifest has \(value.typePhrase) for this file instead of a digest.",
                fix: Self.withSHA256
            )
            return
        }
        if path.isExactly(oneOf: [Manifest.path, SignatureCheck.path]) {
            list.error(
                "manifest-lists-itself",
                path,
                "The manifest lists this file, which can't be known when it is written.",
                fix: "List all files but manifest.json and signature."
            )
            return
        }
        guard let digest = digest(text, path) else { return }
        guard archive.has(path) else {
            list.error(
                "manifest-file-missing",
                path,
                "The manifest lists the file, but it isn't in the package.",
                fix: otherPath(path).map { "Paths start at the package's top level: write \"\($0)\"." }
                    ?? "Add the file, or take it out of the manifest."
            )
            return
        }
        if let found = archive.digests[ExactKey(path)], found.bytes != digest {
            list.error(
                "hash-mismatch",
                path,
                "The file isn't the one that was signed: its SHA-256 is not the manifest's.",
                fix: "Build the package anew; no file may change after the manifest is written."
            )
        }
    }

    /// The file that is meant by a path with a prefix or with backslashes. Of a path that no file can have, or that goes
    /// through many folders, nobody knows: with thousands of parts there would be as many long paths to look for.
    private func otherPath(_ path: String) -> String? {
        guard path.utf8.count <= EntryName.maximumLength else { return nil }
        let parts = path.split { $0 == "/" || $0 == "\\" }
        guard parts.count <= Self.partLimit else { return nil }
        return parts.indices.lazy.map { parts[$0...].joined(separator: "/") }.first { archive.has($0) }
    }

    private mutating func digest(_ text: String, _ path: String) -> [UInt8]? {
        let isHex = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
        }
        if isHex, text.utf8.count == 40 {
            list.error(
                "manifest-sha1",
                path,
                "The digest has the length of SHA-1, which is for passes; orders take SHA-256.",
                fix: Self.withSHA256
            )
            return nil
        }
        guard isHex, text.utf8.count == 64, let bytes = Hex.decode(text.lowercased()) else {
            list.error(
                "manifest-digest-form",
                path,
                "The digest isn't 64 hexadecimal digits.",
                fix: Self.withSHA256
            )
            return nil
        }
        if text.utf8.contains(where: { $0 < 0x61 && $0 > 0x39 }) {
            list.warning(
                "manifest-digest-case",
                path,
                "The digest has upper-case digits; every package known to work has lower-case.",
                fix: "Write it in lower case."
            )
        }
        return bytes
    }
}
