// SPDX-License-Identifier: Apache-2.0
import PostgreSQL
import ServiceRuntime

/// The password of the database's role, given apart from the URL: in its own variable, in the file of settings, or in a file
/// of its own as container engines hand out secrets.
enum DatabasePassword: Sendable {
    /// Only the URL may hold one.
    case none
    /// It was given in the setting of this key.
    case given(Sensitive<String>, key: String)
    /// The setting of this key gives none that can be used.
    case unusable(key: String, fault: String)

    private static let key = "databasePassword"
    private static let fileKey = "databasePasswordFile"

    /// Reads the setting, or the file that the other one names.
    static func read(_ values: Configuration) async -> DatabasePassword {
        let path = values.text(self.fileKey).flatMap { $0.isEmpty ? nil : $0 }
        if let text = values.text(self.key), !text.isEmpty {
            if path != nil {
                return .unusable(key: self.fileKey, fault: "databasePassword is given, too: leave one of them out")
            }
            return self.checked(Array(text.utf8), key: self.key)
        }
        guard let path else { return .none }
        do {
            var bytes = try await runBlocking { try Files.read(path, limit: 1 << 16) }
            if bytes.last == 0x0A { bytes.removeLast() }
            if bytes.last == 0x0D { bytes.removeLast() }
            return self.checked(bytes, key: self.fileKey)
        } catch {
            return .unusable(key: self.fileKey, fault: "the password can't be read: \(error)")
        }
    }

    private static func checked(_ bytes: [UInt8], key: String) -> DatabasePassword {
        guard !bytes.isEmpty else { return .unusable(key: key, fault: "holds no password") }
        // libpq would end it there, or send what the server refuses to read.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            return .unusable(key: key, fault: "holds what no password can: write text in UTF-8, with no NUL in it")
        }
        return .given(Sensitive(text), key: key)
    }

    /// Notes what is wrong with it by itself.
    func noteFaults(_ values: inout Configuration) {
        switch self {
        case .none: break
        case .unusable(let key, let fault): values.fault(key, fault)
        case .given(_, let key):
            if values.text("database") == nil {
                values.fault(key, "goes with database, which says where that is; the private cluster has no password")
            }
        }
    }

    /// Puts it beside the URL that has none; notes a fault when that has one, which of the two is meant being unknown.
    func put(into settings: inout PostgresConfiguration, _ values: inout Configuration) {
        guard case .given(let password, let key) = self else { return }
        if settings.password != nil {
            return values.fault(key, "database has a password, too: take it out of there, or leave this one out")
        }
        settings.password = password
    }
}
