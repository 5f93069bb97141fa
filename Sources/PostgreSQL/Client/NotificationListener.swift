// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// A connection that only listens, and comes back when it breaks.
internal final class NotificationListener: @unchecked Sendable {
    // Sendable by rule: mutable state is touched on the connector's loop only.

    private let channels: [String]
    private let connector: Connector
    private let onNotify: @Sendable (String, String) -> Void
    private let end = Signal()

    private var connection: PostgresConnection?
    private var pause: Signal?
    private var isStopped = false

    init(channels: [String], connector: Connector, onNotify: @escaping @Sendable (String, String) -> Void) {
        self.channels = channels
        self.connector = connector
        self.onNotify = onNotify
    }

    func start() {
        self.connector.loop.spawn {
            await self.run()
            self.end.fire()
        }
    }

    /// Asks it to end; `ended` waits until it has.
    func stop() {
        self.connector.loop.execute {
            self.isStopped = true
            self.connection?.close()
            self.pause?.fire()
        }
    }

    func ended() async {
        do { try await self.end.wait() } catch {}
    }

    private func run() async {
        var failures = 0
        var isFirst = true
        while !self.isStopped {
            do throws(PostgresError) {
                let connection = try await self.connector.connect()
                let closed = Signal()
                connection.onClose = { _ in closed.fire() }
                connection.onNotification = { [onNotify = self.onNotify] channel, payload in onNotify(channel, payload)
                }
                self.connection = connection
                if self.isStopped { connection.close() }
                try await connection.script(self.channels.map { "listen \(quoted($0))" }.joined(separator: "; "))
                if failures > 0 { self.connector.logger.notice("listening to the database again") }
                failures = 0
                if !isFirst { for channel in self.channels { self.onNotify(channel, "") } }
                isFirst = false
                do { try await closed.wait() } catch { connection.close() }
                self.connection = nil
            } catch {
                self.connection?.close()
                self.connection = nil
                // Without it all goes on, only later: nobody else would tell.
                if failures == 0, !self.isStopped {
                    self.connector.logger.warning(
                        "can't listen to the database; what waits for its word comes later",
                        ["reason": .string(error.message)]
                    )
                }
                failures += 1
            }
            if !self.isStopped { await self.wait(failures) }
        }
    }

    /// 50 ms, doubling to 1 s, less up to half of it by chance.
    private func wait(_ failures: Int) async {
        let full = min(1_000.0, 50.0 * Double(1 << min(failures, 8)))
        let pause = Signal()
        self.pause = pause
        let delay = Duration.milliseconds(Int64(full * Double.random(in: 0.5...1)))
        let timer = self.connector.loop.schedule(after: delay) { pause.fire() }
        do { try await pause.wait() } catch {}
        timer.cancel()
        self.pause = nil
    }
}

/// An SQL identifier in quotes.
internal func quoted(_ identifier: String) -> String {
    var text = "\""
    for character in identifier where character != "\0" {
        text.append(character)
        if character == "\"" { text.append("\"") }
    }
    return text + "\""
}
