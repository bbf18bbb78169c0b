import Logging
import Persistence
import Reactor
import Relay

/// Takes over each change that a command has made in the store beside the running node, without a restart.
///
/// A file that can't be read is logged once, and the one that was read before stays in use.
@EventLoop
package final class StoreWatch<Value: Equatable & Sendable> {
    /// The value, and a number that another process's change of the file makes another one; `nil` while it is the one given.
    /// It goes from the event loop to the store's thread and back: by way of the shared pool each look would wake two more.
    package typealias Read =
        nonisolated(nonsending) @Sendable (_ known: Int64?) async throws(OutboxError) -> (
            version: Int64, value: Value
        )?

    package private(set) var value: Value
    private let read: Read
    private let onFault: @EventLoop (String) -> Void
    private let onChange: @EventLoop (Value) -> Void
    private var version: Int64
    /// Why the value can't be read, so that the one of before stays in use; `nil`: it can.
    package private(set) var fault: String?
    private let timer = Timer()
    private var isStopped = false
    private let interval: Duration

    package nonisolated static var interval: Duration { .seconds(1) }

    /// Reads the value for the first time.
    ///
    /// - Parameters:
    ///   - initial: the value as long as the store has none.
    ///   - onFault: called with the reason why the value can't be read, when there is a new reason.
    ///   - onChange: called with each value that follows.
    package init(
        initial: Value, every interval: Duration = StoreWatch.interval, read: @escaping Read,
        onFault: @escaping @EventLoop (String) -> Void,
        onChange: @escaping @EventLoop (Value) -> Void
    ) async throws(OutboxError) {
        (version, value) = try await read(nil) ?? (0, initial)
        (self.read, self.onFault, self.onChange) = (read, onFault, onChange)
        self.interval = interval
        timer.action = { [weak self] in self?.look() }
        timer.start(after: interval)
    }

    /// Notes a value that this process has put into the store itself.
    package func note(_ value: Value) { self.value = value }

    package func stop() {
        isStopped = true
        timer.stop()
    }

    private func look() {
        Task { [weak self] in
            await self?.lookNow()
        }
    }

    /// Takes over now what another connection to the store has changed.
    package func lookNow() async {
        do throws(OutboxError) {
            var changed: (version: Int64, value: Value)?
            var known: Int64
            repeat {
                known = version
                changed = try await read(known)
                guard !isStopped else { return }
                // Another look was quicker: what this one has may be older.
            } while version != known
            fault = nil
            if let changed {
                version = changed.version
                use(changed.value)
            }
        } catch {
            guard !isStopped else { return }
            let reason = "\(error)"
            if fault != reason { onFault(reason) }
            fault = reason
        }
        timer.start(after: interval)
    }

    private func use(_ value: Value) {
        guard value != self.value else { return }
        self.value = value
        onChange(value)
    }
}

package extension StoreWatch<PhoneBook> {
    /// Makes a watch of the phone book.
    ///
    /// - Parameter use: called with the book of now, and with each one that follows.
    convenience init(
        in outbox: OutboxStore, log: Logger, _ use: @escaping @EventLoop (PhoneBook) -> Void
    ) async throws(OutboxError) {
        let reader = try await PhoneBookReader(in: outbox)
        try await self.init(initial: PhoneBook()) { (known) throws(OutboxError) in
            try await reader.book(unless: known).map { ($0.version, $0.book) }
        } onFault: {
            log.error("phones.read_failed", metadata: ["reason": "\($0)"])
        } onChange: {
            log.notice("phones.changed", metadata: ["phones": "\($0.phones.count)"])
            use($0)
        }
        use(value)
    }
}
