// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// What libpq would take from the environment for each parameter that it was not given: another server (`PGHOSTADDR`), other
/// demands on it (`PGREQUIREPEER`, `PGSSLMODE`), other settings of its sessions (`PGTZ`).
///
/// The program's own settings say where the database is, and a variable meant for `psql` must not move it elsewhere. Most
/// can't be overruled by a parameter: an empty one counts as not given, and some have no parameter at all.
package enum InheritedSettings {
    /// Removes all of libpq's variables. Must come before the first thread is started.
    package static func forget() { ProcessEnvironment.remove(prefix: "PG") }
}
