import Logging
import Reactor
import Synchronization

/// The names of the events that a part under test has logged, for tests that wait for one.
package final class EventsOfLog: Sendable {
    private let names = Mutex<[String]>([])

    package init() {}

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    /// All of them, as they came.
    package var all: [String] { names.withLock { $0 } }

    /// Returns when it has been logged.
    package func wait(for name: String) async throws {
        try await EventLoop.until { self.all.contains(name) }
    }

    private struct Handler: LogHandler {
        let log: EventsOfLog
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        init(log: EventsOfLog) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.names.withLock { $0.append("\(event.message)") }
            // Whoever waits asks after each event of the loop, and this may be another thread.
            Task { @EventLoop in }
        }
    }
}
