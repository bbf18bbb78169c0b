import CSupport
import Glibc
import Synchronization

/// A thread that runs its jobs in order. Calls that may wait hold up neither the event loop nor Swift's pool there. Between
/// jobs the thread can watch a descriptor.
package final class WorkThread: SerialExecutor {
    private let name: String
    private let state = Mutex(State())
    // Owned: closed in deinit.
    private let wakeDescriptor = onionbell_eventfd(true)

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var isEnding = false
        /// Whether the thread waits, and nobody has woken it.
        var isWaiting = false
        var watched: (descriptor: Int32, whenReadable: @Sendable () -> Void)?

        mutating func mustWake() -> Bool {
            defer { isWaiting = false }
            return isWaiting
        }
    }

    /// Starts a thread; its name has at most 15 bytes.
    package init(named name: String) {
        self.name = name
        precondition(wakeDescriptor >= 0, "no eventfd: errno \(errno)")
        var thread = pthread_t()
        // The thread holds a reference until ``end()`` lets it finish.
        let failed = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<WorkThread>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(failed == 0, "no thread for \(name): \(failed)")
        pthread_detach(thread)
    }

    deinit { close(wakeDescriptor) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = state.withLock { state in
            state.jobs.append(job)
            return state.mustWake()
        }
        if mustWake { wake() }
    }

    /// Calls `whenReadable` once, on this thread, when the thread has nothing to do and the descriptor is readable or closed
    /// by its other end. A later call replaces the watched descriptor. `nil`: watches nothing.
    ///
    /// The descriptor stays its owner's, who stops the watching before closing it: from a job, so that nothing is watched
    /// meanwhile.
    package func watch(_ descriptor: Int32?, whenReadable: @escaping @Sendable () -> Void) {
        state.withLock { $0.watched = descriptor.map { ($0, whenReadable) } }
    }

    /// Lets the thread finish once all its jobs are done.
    package func end() {
        let mustWake = state.withLock { state in
            state.isEnding = true
            return state.mustWake()
        }
        if mustWake { wake() }
    }

    private func wake() {
        var one: UInt64 = 1
        // Can only fail when 2^64 wake-ups are pending, and then it is awake.
        _ = write(wakeDescriptor, &one, 8)
    }

    private func run() {
        onionbell_name_thread(name)
        var batch: [UnownedJob] = []
        while true {
            let isOver = state.withLock { state in
                swap(&batch, &state.jobs)
                state.isWaiting = batch.isEmpty && !state.isEnding
                return batch.isEmpty && state.isEnding
            }
            if isOver { return }
            if batch.isEmpty { wait() }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: true)
        }
    }

    private func wait() {
        // One call where there is nothing to watch.
        guard let watched = state.withLock({ $0.watched }) else { return awaitWake() }
        var both = [
            pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: watched.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&both, 2, -1) > 0 else { return }
        if both[0].revents != 0 { awaitWake() }
        guard both[1].revents != 0 else { return }
        state.withLock { $0.watched = nil }
        watched.whenReadable()
    }

    private func awaitWake() {
        var count: UInt64 = 0
        _ = read(wakeDescriptor, &count, 8)
    }
}

/// The isolation of calls that may wait for a file system: a disk that hangs holds up these, and nothing else.
@globalActor
package actor FileThread {
    package static let shared = FileThread()

    private nonisolated let thread = WorkThread(named: "files")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}
