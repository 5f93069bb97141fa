// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// The programs of one installed PostgreSQL.
internal struct ServerPrograms: Sendable, Hashable {
    /// The folder that `initdb` and `postgres` are in.
    let folder: String
    /// 15, 16, ….
    let major: Int

    static let oldest = 15

    var initdb: String { self.folder + "/initdb" }
    var postgres: String { self.folder + "/postgres" }

    /// The newest installed version, or the one that a data directory demands.
    ///
    /// - Throws: `.noServer`, `.otherVersion`.
    static func find(major wanted: Int?) async throws -> ServerPrograms {
        let installed = try await self.installed()
        guard let wanted else {
            if let newest = installed.max(by: { $0.major < $1.major }) { return newest }
            throw PrivateClusterError(
                .noServer,
                "no PostgreSQL \(self.oldest) or newer was found in /usr/lib/postgresql or PATH; "
                    + "install it (apt-get install postgresql), or give the URL of a server"
            )
        }
        if let match = installed.first(where: { $0.major == wanted }) { return match }
        let names = installed.map { String($0.major) }.joined(separator: ", ")
        throw PrivateClusterError(
            .otherVersion,
            "the data directory belongs to PostgreSQL \(wanted), installed is \(names.isEmpty ? "none" : names); "
                + "install postgresql-\(wanted), or move the data over with pg_upgrade"
        )
    }

    private static func installed() async throws -> [ServerPrograms] {
        var found: [ServerPrograms] = []
        // Where Debian and Ubuntu put them; the versions are few enough to be tried.
        for major in self.oldest...40 {
            let programs = ServerPrograms(folder: "/usr/lib/postgresql/\(major)/bin", major: major)
            if programs.areExecutable { found.append(programs) }
        }
        for folder in self.searchPath {
            guard ServerPrograms(folder: folder, major: 0).areExecutable else { continue }
            let version = try await ChildProcess.run(folder + "/postgres", ["--version"], limit: 256).text
            // "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)"
            let words = version.split(separator: " ")
            guard words.count >= 3, let major = Int(words[2].prefix { $0.isNumber }), major >= self.oldest else {
                continue
            }
            if !found.contains(where: { $0.major == major }) {
                found.append(ServerPrograms(folder: folder, major: major))
            }
        }
        return found
    }

    private var areExecutable: Bool {
        unsafe access(self.initdb, X_OK) == 0 && access(self.postgres, X_OK) == 0
    }

    private static var searchPath: [String] {
        guard let path = unsafe getenv("PATH") else { return [] }
        return unsafe String(cString: path).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
}
