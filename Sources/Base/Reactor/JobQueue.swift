/// Runs jobs that take long one after the other, each on a thread of its own that ends with it: at rest nothing is left.
@EventLoop
package final class JobQueue {
    private let name: String
    private var last: Task<Void, Never>?

    /// Makes a queue; `name` is its threads' name, at most 15 bytes.
    package init(named name: String) { self.name = name }

    /// Returns when the job, and those that were asked for before it, are done.
    package func run<Value: Sendable>(_ job: @escaping @Sendable () -> Value) async -> Value {
        let (before, name) = (last, name)
        let own = Task {
            await before?.value
            return await JobThread.run(named: name, job)
        }
        last = Task { _ = await own.value }
        return await own.value
    }
}

/// A thread for one job.
private actor JobThread {
    private nonisolated let thread: WorkThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(named name: String) { thread = WorkThread(named: name) }

    private func run<Value: Sendable>(_ job: @Sendable () -> Value) -> Value { job() }

    static func run<Value: Sendable>(named name: String, _ job: @Sendable () -> Value) async -> Value {
        let one = JobThread(named: name)
        defer { one.thread.end() }
        return await one.run(job)
    }
}
