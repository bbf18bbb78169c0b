import Dispatching
import Logging
import Reactor
import Relay
import Storage

/// Takes over each change of the phone book that a command has made, without a restart.
///
/// A book that can't be read is told once, and the one of before stays in use.
@EventLoop
final class PhoneBookWatch {
    private(set) var book: PhoneBook
    private let reader: PhoneBookReader
    private let log: Logger
    private let onChange: @EventLoop (PhoneBook) -> Void
    private var version: Int64
    private var fault: String?
    private var timer: Timer!
    private var isStopped = false

    private static let interval: Duration = .seconds(1)

    /// Reads it for the first time, before anything is accepted.
    ///
    /// - Parameter onChange: Called with the book of now, and with each one that follows.
    init(
        in outbox: SQLiteOutbox, log: Logger, onChange: @escaping @EventLoop (PhoneBook) -> Void
    ) async throws(OutboxError) {
        reader = try await PhoneBookReader(in: outbox)
        (version, book) = try await reader.book() ?? (0, PhoneBook())
        self.log = log
        self.onChange = onChange
        onChange(book)
        timer = Timer { [weak self] in self?.look() }
        timer.start(after: PhoneBookWatch.interval)
    }

    func stop() {
        isStopped = true
        timer.stop()
    }

    private func look() {
        Task { [weak self] in
            await self?.lookNow()
        }
    }

    private func lookNow() async {
        do throws(OutboxError) {
            let changed = try await reader.book(unless: version)
            guard !isStopped else { return }
            fault = nil
            if let changed {
                version = changed.version
                use(changed.book)
            }
        } catch {
            guard !isStopped else { return }
            let reason = "\(error)"
            if fault != reason { log.error("phones.read_failed", metadata: ["reason": "\(reason)"]) }
            fault = reason
        }
        timer.start(after: PhoneBookWatch.interval)
    }

    private func use(_ book: PhoneBook) {
        guard book != self.book else { return }
        self.book = book
        log.notice("phones.changed", metadata: ["phones": "\(book.phones.count)"])
        onChange(book)
    }
}
