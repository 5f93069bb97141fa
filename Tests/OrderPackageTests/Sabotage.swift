// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import ServiceRuntime
import TestPatience
import Testing
import ZipFiles

@testable import OrderPackage

/// A package in parts, to be spoiled and put together again.
struct PackageParts {
    var order = Fixtures.order
    var files: [(String, [UInt8])] = [("logo.png", Fixtures.png(60))]
    /// nil: made from the files.
    var manifest: [UInt8]?
    /// nil: signed properly; empty array: an empty file.
    var signature: [UInt8]?
    var leaf: (Certificate, PrivateKey)?
    var embedded: [Certificate]?
    var leavesOut: Set<String> = []
    var prefix = ""
    /// Spoils the archive that was made of all this.
    var edit: @Sendable (inout [UInt8]) -> Void = { _ in }

    /// The manifest that lists the order and the files.
    func honestManifest() -> [UInt8] {
        let all = [("order.json", order)] + files
        return Manifest.bytes(all.map { ($0.0, SHA256.hash($0.1).hex) })
    }

    /// Replaces a text in the order.
    mutating func replaceInOrder(_ old: String, _ new: String) {
        order = Self.replacing(old, new, in: order)
    }

    /// Replaces a text in the manifest that lists the files.
    mutating func replaceInManifest(_ old: String, _ new: String) {
        manifest = Self.replacing(old, new, in: manifest ?? honestManifest())
    }

    /// The text must be there: a test of what is unchanged would show nothing.
    private static func replacing(_ old: String, _ new: String, in bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(old), "\(text) has no \(old)")
        return Array(text.replacing(old, with: new).utf8)
    }

    /// Signs by hand.
    mutating func forge(_ change: (inout ForgedSignature) throws -> Void) throws {
        var forged = try ForgedSignature(manifest ?? honestManifest())
        try change(&forged)
        signature = try forged.bytes()
    }

    /// The signature that belongs to a manifest.
    func honestSignature(_ manifest: [UInt8]) throws -> [UInt8] {
        let authority = try Fixtures.authority()
        let (certificate, key) = leaf ?? (authority.identity.certificate, authority.identity.key)
        return try CMS.signDetached(
            manifest,
            signer: certificate,
            key: key,
            intermediates: embedded ?? [authority.intermediate],
            signingTime: Fixtures.now
        )
    }

    /// All files, the package's own among them.
    func allFiles() throws -> [(String, [UInt8])] {
        let manifest = manifest ?? honestManifest()
        let signature = try signature ?? honestSignature(manifest)
        return ([("manifest.json", manifest), ("order.json", order)] + files + [("signature", signature)])
            .filter { !leavesOut.contains($0.0) }
    }

    func bytes() throws -> [UInt8] {
        var writer = ZipWriter()
        for (name, contents) in try allFiles() { try writer.add(name: prefix + name, contents: contents) }
        var bytes = writer.finish().flatMap(\.self)
        edit(&bytes)
        return bytes
    }
}

/// A package that is wrong in one way, and everything that has to be said about it: severity, code and place.
struct BrokenPackage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [String]
    let change: @Sendable (inout PackageParts) throws -> Void

    init(_ title: String, _ expected: [String], _ change: @escaping @Sendable (inout PackageParts) throws -> Void) {
        testDescription = title
        self.expected = expected
        self.change = change
    }

    func bytes() throws -> [UInt8] {
        var parts = PackageParts()
        try change(&parts)
        return try parts.bytes()
    }

    static let all = archives + places + manifests + signatures + certificates + orders
}

/// Byte for byte changes of an archive, in the local header and the directory alike where both have the field.
enum ArchiveEdit {
    /// The offset of an entry's record in the directory.
    static func record(_ name: String, _ bytes: [UInt8]) -> Int {
        ArchiveBytes.records(bytes).first { bytes[($0 + 46)...].starts(with: name.utf8) } ?? 0
    }

    static func local(_ name: String, _ bytes: [UInt8]) -> Int {
        let at = record(name, bytes) + 42
        return ArchiveBytes.number(4, at: at, in: bytes)
    }

    /// Sets a field of the common part (offset as in the local header) on both sides.
    static func both(_ name: String, _ offset: Int, _ width: Int, _ value: Int) -> @Sendable (inout [UInt8]) -> Void {
        { bytes in
            ArchiveBytes.put(value, width, at: local(name, bytes) + offset, in: &bytes)
            ArchiveBytes.put(value, width, at: record(name, bytes) + offset + 2, in: &bytes)
        }
    }

    /// Sets a field of the directory's record.
    static func directory(_ name: String, _ offset: Int, _ width: Int, _ value: Int)
        -> @Sendable (inout [UInt8]) -> Void
    {
        { ArchiveBytes.put(value, width, at: record(name, $0) + offset, in: &$0) }
    }

    /// Sets a field of the local header.
    static func header(_ name: String, _ offset: Int, _ width: Int, _ value: Int) -> @Sendable (inout [UInt8]) -> Void {
        { ArchiveBytes.put(value, width, at: local(name, $0) + offset, in: &$0) }
    }

    /// Sets a field of the end record.
    static func end(_ offset: Int, _ width: Int, _ value: Int) -> @Sendable (inout [UInt8]) -> Void {
        { ArchiveBytes.put(value, width, at: $0.count - 22 + offset, in: &$0) }
    }

    /// Renames an entry, to a name of the same length.
    static func rename(_ old: String, _ new: [UInt8]) -> @Sendable (inout [UInt8]) -> Void {
        { bytes in
            let places = [local(old, bytes) + 30, record(old, bytes) + 46]
            for place in places { bytes.replaceSubrange(place..<place + new.count, with: new) }
        }
    }

    /// Inserts bytes before the directory, whose recorded place moves along.
    static func insertBeforeDirectory(_ inserted: [UInt8]) -> @Sendable (inout [UInt8]) -> Void {
        { ArchiveBytes.insertBeforeDirectory(inserted, in: &$0) }
    }

    /// Gives the directory's record of the last entry an extra field.
    static func extraField(_ field: [UInt8]) -> @Sendable (inout [UInt8]) -> Void {
        { ArchiveBytes.addExtraField(field, in: &$0) }
    }
}

extension Manifest {
    /// The bytes of a manifest that lists these paths and digests.
    static func bytes(_ files: [(path: String, digestText: String)]) -> [UInt8] {
        bytes(files.map { line(path: $0.path, digestText: $0.digestText) })
    }
}
