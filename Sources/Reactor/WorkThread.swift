import CSupport
import Glibc

/// A thread that runs its jobs in order: for calls that may wait, so that they hold up neither the event loop nor
/// Swift's pool.
///
/// `@unchecked Sendable`: `jobs` and `isEnding` are guarded by `mutex`. A pthread mutex, since the thread waits on a
/// condition, and `Synchronization` has none.
package final class WorkThread: SerialExecutor, @unchecked Sendable {
    private let name: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [UnownedJob] = []
    private var isEnding = false

    /// - Parameter name: of the thread, at most 15 bytes.
    package init(named name: String) {
        self.name = name
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
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

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_mutex_unlock(mutex)
        // Afterwards: whom it wakes would at once wait for the mutex.
        pthread_cond_signal(condition)
    }

    /// Lets the thread finish once all its jobs are done.
    package func end() {
        pthread_mutex_lock(mutex)
        isEnding = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func run() {
        onionbell_name_thread(name)
        var batch: [UnownedJob] = []
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty && !isEnding { pthread_cond_wait(condition, mutex) }
            swap(&batch, &jobs)
            let isOver = batch.isEmpty
            pthread_mutex_unlock(mutex)
            if isOver { return }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: true)
        }
    }
}

/// The isolation of calls that may wait for a file system: a disk that hangs holds up these, and nothing else.
@globalActor
package actor FileThread {
    package static let shared = FileThread()

    private nonisolated let thread = WorkThread(named: "files")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}
